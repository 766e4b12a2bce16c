// --scale: as the columns are, to mean 0 and deviation 1 over all devices, or between bounds from a file.

import { readFileSync } from "node:fs";
import type { Matrix } from "@fedkm/core";
import { DataError, type Scaling, standardScaling } from "@fedkm/files";
import { systemReason, UsageError } from "../failure.ts";

type ScalingKind = "none" | "standard" | "bounds";

export interface ChosenScaling {
  readonly scaling: { readonly kind: ScalingKind } & Scaling;
  readonly warnings: readonly string[];
}

export function chooseScaling(spec: string, columns: readonly string[], datasets: readonly Matrix[]): ChosenScaling {
  if (spec === "none") {
    const [offset, scale] = [0, 1].map((value) => columns.map(() => value));
    return { scaling: { kind: "none", offset, scale }, warnings: [] };
  }
  if (spec === "standard") return { scaling: { kind: "standard", ...standardScaling(datasets) }, warnings: [] };
  const [, file] = /^bounds:(.+)$/.exec(spec) ?? [];
  if (file === undefined) throw new UsageError(`--scale must be none, standard or bounds:FILE, got "${spec}"`);
  const bounds = readBounds(file, columns);
  const offset = bounds.map(([least]) => least);
  const scale = bounds.map(([least, most]) => most - least);
  const warnings = columns.flatMap((name, c) => outside(name, c, bounds[c], datasets));
  return { scaling: { kind: "bounds", offset, scale }, warnings };
}

/** Lines of column,least,most; a first line whose bounds are no numbers is a header. */
function readBounds(file: string, columns: readonly string[]): [number, number][] {
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new DataError({ file }, "be a file that can be read", systemReason(error), "check the path");
  }
  const bounds = new Map<string, [number, number]>();
  text.split(/\r?\n/).forEach((line, at) => {
    if (line.trim() === "") return;
    const [name, ...ends] = line.split(/[,;\t]/).map((cell) => cell.trim().replaceAll(/^"|"$/g, ""));
    const [least, most] = ends.map((end) => (end === "" ? Number.NaN : Number(end)));
    if (at === 0 && ends.length === 2 && Number.isNaN(least) && Number.isNaN(most)) return;
    if (ends.length !== 2 || !(least < most) || !Number.isFinite(most - least)) {
      throw new DataError(
        { file, line: at + 1, column: name },
        "have a least and a larger most value",
        line.trim(),
        "mend the line",
      );
    }
    bounds.set(name, [least, most]);
  });
  return columns.map((column) => {
    const own = bounds.get(column);
    if (own !== undefined) return own;
    throw new DataError({ file, column }, "have a line", "none", `add ${column},least,most`);
  });
}

function outside(name: string, c: number, [least, most]: [number, number], datasets: readonly Matrix[]): string[] {
  let count = 0;
  let total = 0;
  for (const { data, rows, cols } of datasets) {
    for (let r = 0, at = c; r < rows; r++, at += cols) if (data[at] < least || data[at] > most) count++;
    total += rows;
  }
  const share = ((100 * count) / total).toPrecision(2);
  return count === 0
    ? []
    : [`${share} % of column ${JSON.stringify(name)} lies outside its bounds ${least} to ${most}`];
}
