// --scale: as the columns are, to mean 0 and deviation 1 over all devices, or between bounds from a file.

import type { Matrix } from "@fedkm/core";
import { type Bounds, readBounds, type Scaling, standardScaling } from "@fedkm/files";
import { UsageError } from "../failure.ts";

type ScalingKind = "none" | "standard" | "bounds";

export interface ChosenScaling {
  readonly scaling: { readonly kind: ScalingKind } & Scaling;
  readonly warnings: readonly string[];
}

export async function chooseScaling(
  spec: string,
  columns: readonly string[],
  datasets: readonly Matrix[],
): Promise<ChosenScaling> {
  if (spec === "none") {
    const [offset, scale] = [0, 1].map((value) => columns.map(() => value));
    return { scaling: { kind: "none", offset, scale }, warnings: [] };
  }
  if (spec === "standard") return { scaling: { kind: "standard", ...standardScaling(datasets) }, warnings: [] };
  const [, file] = /^bounds:(.+)$/.exec(spec) ?? [];
  if (file === undefined) throw new UsageError(`--scale must be none, standard or bounds:FILE, got "${spec}"`);
  const bounds = await readBounds(file, columns);
  const offset = bounds.map(({ least }) => least);
  const scale = bounds.map(({ least, most }) => most - least);
  const warnings = columns.flatMap((name, c) => outside(name, c, bounds[c], datasets));
  return { scaling: { kind: "bounds", offset, scale }, warnings };
}

function outside(name: string, c: number, { least, most }: Bounds, datasets: readonly Matrix[]): string[] {
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
