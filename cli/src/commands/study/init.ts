// fedkm study init: a first study file, from features given or from a file's columns, for a person to look over.

import { existsSync } from "node:fs";
import {
  budgetOf,
  type Feature,
  noiseOfCentroids,
  parseStudy,
  type Study,
  whatAllLearn,
  whatNeighboursLearn,
} from "@fedkm/device";
import { type Columns, readColumns } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { significant } from "../../numbers.ts";
import { writeWhole } from "../../write.ts";

export interface StudyInitOptions {
  readonly name: string;
  readonly k: number;
  readonly alpha: number;
  readonly feature?: readonly string[];
  readonly data?: string;
  readonly columns?: string;
  readonly clusters: "personal" | "shared";
  readonly privacy: Study["privacy"];
  readonly typicalRows?: number;
  readonly devices?: number;
  readonly epsilon?: number;
  readonly delta?: number;
  readonly out: string;
}

export async function initStudy(options: StudyInitOptions, { stdout }: Console): Promise<void> {
  const { feature, data, columns, out } = options;
  if ((feature === undefined) === (data === undefined)) {
    throw new UsageError("either --feature or --data must be given, got both or neither");
  }
  if (existsSync(out)) throw new Error(`${out} must not exist yet: a study that devices use is not overwritten`);
  const features =
    data === undefined
      ? feature?.map(parseFeature)
      : boundsOf(await readColumns(data, process.env, columns?.split(",")));
  const text = studyText({ ...options, features: features ?? [] });
  const study = parseStudy(text);
  await writeWhole(out, text);
  stdout.write(`wrote ${out}: look it over, then give the same file to every device\n`);
  stdout.write(`privacy is ${options.privacy}: ${learntOf(options.clusters)[options.privacy]}\n`);
  if (study.privacy === "private" && study.clusters === "shared") stdout.write(`${noiseLine(study)}\n`);
  if (study.privacy === "private" && data !== undefined) stdout.write(`${BOUNDS_OF_DATA}\n`);
}

const learntOf = (clusters: "personal" | "shared") => (clusters === "shared" ? whatAllLearn : whatNeighboursLearn);

function parseFeature(text: string): Feature {
  const [name, min, max, unit = ""] = text.split(":");
  const bounds = { min: Number(min), max: Number(max) };
  if (!name || !min || !max || !(bounds.min < bounds.max)) {
    throw new UsageError(`--feature must be name:min:max or name:min:max:unit with min below max, got "${text}"`);
  }
  return { name, unit, ...bounds, scale: 1 };
}

/** Round bounds around what a file holds, with room for what other devices may hold; scaled by the spread, in one digit. */
function boundsOf({ names, points }: Columns): Feature[] {
  const { data, rows, cols } = points;
  if (rows === 0) throw new Error("data must have rows to take bounds from, got none");
  return names.map((name, column) => {
    const values = Float64Array.from({ length: rows }, (_, row) => data[row * cols + column]);
    const least = values.reduce((a, b) => Math.min(a, b));
    const most = values.reduce((a, b) => Math.max(a, b));
    const mean = values.reduce((sum, value) => sum + value / rows, 0);
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2 / rows, 0));
    const step = 10 ** Math.floor(Math.log10(most > least ? most - least : Math.max(1, Math.abs(most))));
    const tidy = (value: number) => Number(value.toPrecision(12));
    const min = tidy((Math.floor(least / step) - 1) * step);
    const max = tidy((Math.ceil(most / step) + 1) * step);
    return { name, unit: "", min, max, scale: spread > 0 ? Number(spread.toPrecision(1)) : 1 };
  });
}

/** Bounds that come from rows say something about them. */
const BOUNDS_OF_DATA =
  "bounds and scales come from the file: replace them by what is known without it, or the promise does not cover them";

type StudySketch = Omit<StudyInitOptions, "feature" | "data" | "columns" | "out"> & {
  readonly features: readonly Feature[];
};

/** The file's text, with a reason for each field. */
function studyText(sketch: StudySketch): string {
  const { name, k, alpha, features, clusters, privacy } = sketch;
  const learnt = learntOf(clusters);
  const lines = features.map(
    ({ name: feature, unit, min, max, scale }) =>
      `  - { name: ${JSON.stringify(feature)}, unit: ${JSON.stringify(unit)}, min: ${min}, max: ${max}, scale: ${scale} }`,
  );
  return `# The study: the same on every device, or they refuse each other.
name: ${JSON.stringify(name)}
# Clusters on every device.
k: ${k}
# Columns of the data. Rows outside min and max do not count; a difference of \`scale\` units counts as 1.
features:
${lines.join("\n")}
${clusters === "shared" ? sharedText : personalText(alpha)}
# guarded: ${learnt.guarded}.
# private: ${learnt.private}.
# open: ${learnt.open}.
privacy: ${privacy}
${budgetText(sketch)}# What guarded promises. In both modes a device with fewer than k times as many rows sends nothing of its own.
minimum: 10
`;
}

const personalText = (alpha: number) => `# How strongly neighbours pull: 0 is alone, large is one clustering for all.
alpha: ${alpha}
coupling: nearest
# device: every device counts the same. sample: by its rows.
weighting: device
# doubted: what is far from all others counts less, in case a neighbour lies. trusted: all count in full.
neighbours: doubted`;

const sharedText = `# One clustering for all, as of all rows together, by sums that devices mask.
clusters: shared
# So many devices may put together what they know; each device needs one link more than that.
colluders: 1
# For more than about a hundred devices: sums go over a tree, and not to everybody.
# sums: tree`;

/** What the noise does to the answer, whatever the rows are. */
function noiseLine(study: Study): string {
  const { k, devices, typicalRows } = study;
  const moved = significant(noiseOfCentroids(study), 2);
  return `with ${devices} devices of ${typicalRows} rows in ${k} clusters of one size the noise moves a coordinate of a centroid by about ${moved} of a scale`;
}

/** What only a private study says. */
function budgetText(sketch: StudySketch): string {
  const { privacy, clusters, typicalRows, devices, ...given } = sketch;
  if (privacy !== "private") {
    const options = { "--typical-rows": typicalRows, "--devices": devices, ...budgetOptions(given) };
    for (const [option, value] of Object.entries(options)) {
      if (value !== undefined)
        throw new UsageError(`${option} must be left out unless --privacy is private, got ${value}`);
    }
    return "";
  }
  if (typicalRows === undefined)
    throw new UsageError("--typical-rows must be given with --privacy private, got nothing");
  if ((devices !== undefined) !== (clusters === "shared")) {
    const rule = clusters === "shared" ? "given" : "left out unless --clusters is shared";
    throw new UsageError(`--devices must be ${rule} with --privacy private, got ${devices ?? "nothing"}`);
  }
  const { epsilon, delta, lifetime } = budgetOf(given);
  return `# Rows of a device, about: the noise is made for so many. Never count them for this.
typicalRows: ${typicalRows}
# What all releases of one version of a device's rows cost, how likely that may not hold, and what it may ever spend.
epsilon: ${epsilon}
delta: ${delta}
lifetimeEpsilon: ${lifetime}
${devices === undefined ? "" : `# Rows are released when so many devices are there, once for all of them.\ndevices: ${devices}\n`}`;
}

const budgetOptions = ({ epsilon, delta }: Pick<StudySketch, "epsilon" | "delta">) => {
  return { "--epsilon": epsilon, "--delta": delta };
};
