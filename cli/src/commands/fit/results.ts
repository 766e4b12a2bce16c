// The results of fedkm fit: the files of its folder, and the summary of --json.

import { join } from "node:path";
import { type DialectOptions, labelFile, nameOfLabelled } from "@fedkm/files";
import type { Input } from "../../input/devices.ts";
import { deviceNames } from "../../input/names.ts";
import type { Fitted } from "../../model/fitted.ts";
import { writeFolder } from "../../write.ts";
import type { Refit } from "./report/sure.ts";

interface ResultsOptions extends DialectOptions {
  readonly out: string;
}

/** All results at once, or none. Returns where they are, and what could not be carried over. */
export async function writeResults(input: Input, fitted: Fitted, refit: Refit, options: ResultsOptions) {
  const { reportPage } = await import("./report/page.ts");
  const files = input.files.filter(({ isSource }) => !isSource);
  const inputs = files.map(({ file }) => file);
  const names = labelNames(inputs, await Promise.all(inputs.map((file) => nameOfLabelled(file, options))));
  const leftOut: string[] = [];
  await writeFolder(options.out, async (put) => {
    await put("model.json", `${JSON.stringify(fitted.model, undefined, 1)}\n`);
    await put("report.html", reportPage(fitted, refit, true));
    const cursors = new Uint32Array(fitted.labels.length);
    for (const [i, { file, deviceOf }] of files.entries()) {
      const labelOf = (row: number) => {
        const device = deviceOf(row);
        return device < 0 ? undefined : fitted.labels[device][cursors[device]++];
      };
      await put(join("labels", names[i]), async (write) => {
        const missed = await labelFile(file, labelOf, write, options);
        if (missed.length > 0)
          leftOut.push(`the labelled ${names[i]} lacks ${missed.join(", ")}, which cannot be written back`);
      });
    }
  });
  const paths = ["model.json", "report.html", ...names.map((name) => join("labels", name))];
  return { paths: paths.map((path) => join(options.out, path)), leftOut };
}

/** The inputs' own names, with their folders in front where two are the same, and numbered where that is not enough. */
function labelNames(files: readonly string[], own: readonly string[]): string[] {
  if (new Set(own).size === own.length) return [...own];
  const devices = deviceNames(files);
  const taken = new Set<string>();
  return own.map((name, i) => {
    const stem = devices[i].replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, "-");
    const ending = /(\.\w+)(\.gz)?$/.exec(name)?.[0] ?? "";
    let free = `${stem}${ending}`;
    for (let n = 2; taken.has(free); n++) free = `${stem}-${n}${ending}`;
    taken.add(free);
    return free;
  });
}

export function summary(fitted: Fitted, warnings: readonly string[], paths: readonly string[], milliseconds: object) {
  const { columns, devices, clusters, objective, rounds, converged, messages, bytes, options, guarded, certificate } =
    fitted.model;
  const sizes = devices.map(({ name, rows, sizes: own }) => ({ name, rows, sizes: own }));
  return {
    options,
    devices: sizes,
    columns,
    clusters,
    numbersAgree: fitted.numbersAgree,
    objective,
    rounds,
    converged,
    messages,
    bytes,
    guarded,
    certificate,
    warnings,
    files: paths,
    milliseconds,
  };
}
