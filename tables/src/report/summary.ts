// A report in three sentences: what was asked, what the clusters are, and how stable they are.

import type { Stability } from "../fit/stability.ts";
import { encodingOfModel } from "../model/model.ts";
import type { FittedRows } from "../model/outcome.ts";
import type { Trait } from "../model/profile.ts";
import { counted, percent } from "../numbers.ts";
import { clusterName, listed } from "./marks.ts";
import { apartWord, meanJaccards } from "./stabilityTable.ts";

/** A column that clusters explain less of than this does not tell them apart. */
const TELLING = 0.1;

const scaledText: Readonly<Record<FittedRows["model"]["scaling"]["kind"], string>> = {
  none: "",
  standard: ", each scaled to deviation 1",
  robust: ", each scaled by its quartiles",
  minmax: ", each scaled to 0 ... 1",
  rank: ", each scaled by its ranks",
  log: ", some as logarithms, each scaled to deviation 1",
  bounds: ", each scaled by its bounds",
};

export function summarySentences({ model }: FittedRows, traits: readonly Trait[], stability: Stability): string[] {
  const { devices, options, clusters } = model;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const several = devices.length > 1;
  const asked =
    `You asked for ${counted(options.k, "cluster")} of ${counted(rows, "row")}` +
    `${several ? ` on ${counted(devices.length, "device")}` : ""} by ${counted(encodingOfModel(model).length, "column")}${scaledText[model.scaling.kind]}.`;
  const filled = clusters.filter((own) => own.rows > 0).length;
  const telling = traits.filter(({ strength }) => strength >= TELLING).slice(0, 3);
  const most = clusters.map((own) => own.rows / rows);
  const differ =
    telling.length === 0
      ? "no column tells them well apart"
      : `they differ most in ${listed(telling.map(({ name }) => name))}`;
  const found =
    filled === 1
      ? "All rows are in one cluster."
      : `The largest is ${clusterName(model, 0)} with ${percent(Math.max(...most))} of the rows, the smallest has ${percent(
          Math.min(...most.filter((share) => share > 0)),
        )}, and ${differ}.`;
  return [asked, found, ...(options.k > 1 ? [stabilitySentence(model, stability)] : [])];
}

function stabilitySentence(
  { options, clusters }: FittedRows["model"],
  { silhouette, starts, without, rows, of }: Stability,
): string {
  const means = meanJaccards([...starts, ...without.map(({ jaccards }) => jaccards)], options.k);
  const lost = Array.from(means.keys()).filter((c) => means[c] < 0.6);
  const shaky = Array.from(means.keys()).filter((c) => means[c] < 0.85);
  const named = (of: readonly number[]) => listed(of.slice(0, 4).map((c) => clusterName({ clusters }, c)));
  const whom = without.length > 0 ? "other starts and fewer devices" : "other starts";
  // Rows of many columns are about as near to a second centroid even where clusters are plain.
  const [and, but] = silhouette < 0.25 ? [", and", ", yet"] : [", yet", ", and"];
  const again =
    means.length === 0 || means.every(Number.isNaN)
      ? ""
      : lost.length > 0
        ? `${and} ${named(lost)} ${lost.length === 1 ? "is" : "are"} not found again by ${whom}`
        : shaky.length > 0
          ? `${but} ${whom} find most of them again, ${named(shaky)} only in part`
          : `${but} ${whom} find all of them again`;
  const sampled = rows < of ? " in a sample" : "";
  return `They are ${apartWord(silhouette)} (simplified silhouette ${silhouette.toFixed(2)}${sampled})${again}.`;
}
