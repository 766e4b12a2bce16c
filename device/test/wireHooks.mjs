// Puts watched classes in the place of a built device's own: Node asks it for the source of every module.

const watch = JSON.stringify(new URL("./wireWatch.mjs", import.meta.url).href);

const sources = {
  "/device/dist/loop/updateModel.js": `
    import { watchedModel } from ${watch};
    import { UpdateModel as plain } from "./updateModel.js?plain";
    import { scaleRows } from "../study/units.js";
    export const UpdateModel = watchedModel(plain, scaleRows);`,
  "/device/dist/loop/sender.js": `
    import { appendFileSync } from "node:fs";
    import { defaults } from "@fedkm/core/defaults";
    import { watchedSender } from ${watch};
    import { Sender as plain } from "./sender.js?plain";
    const report = (fault) => appendFileSync(process.env.FEDKM_WIRE_FAULTS, fault + "\\n");
    export const Sender = watchedSender(plain, defaults.restarts, report);`,
  "/device/dist/sharedClusters/sharedRows.js": `
    import { appendFileSync } from "node:fs";
    import { watchedRows } from ${watch};
    import { stages } from "./generation.js";
    import { SharedRows as plain } from "./sharedRows.js?plain";
    const report = (fault) => appendFileSync(process.env.FEDKM_WIRE_FAULTS, fault + "\\n");
    export const SharedRows = watchedRows(plain, stages.describe, report);`,
};

export async function load(url, context, next) {
  const name = Object.keys(sources).find((end) => url.endsWith(end));
  return name === undefined ? next(url, context) : { format: "module", source: sources[name], shortCircuit: true };
}
