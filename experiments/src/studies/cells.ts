// From a sweep file to its cells: the product of all factors, each cell with what its method knows and nothing else.

import { type Method, methods } from "@fedkm/core";
import { type CellOptions, type StartName, type StudyCell, seedOfRun } from "../cell.ts";
import { cellFactors, type Factors, problemFactors, type SweepFile, type SweptData } from "./file.ts";
import type { PlanOptions } from "./plan.ts";

/** What data of a name are like, where that is not for the file to say. */
interface KnownData {
  /** Clusters; undefined: as the file says. */
  readonly k?: number | undefined;
  /** Devices that it has by itself. */
  readonly devices?: number | undefined;
  /** Whether rows are drawn, as many as are asked for. */
  readonly isDrawn: boolean;
}

/** What a plan knows besides its file: methods by name, and data by name and request. */
export interface Known {
  readonly methods: { readonly [name: string]: Method };
  data(name: string, request: { devices: number; pointsPerDevice: number; seed: number }): KnownData;
}

/** The paper's setting, unless a file says otherwise. */
const usual: Factors = { points: [200], devices: [10], k: [3], graph: ["er:0.7"], alpha: [1], rounds: [200] };

/** A list of maps, one for every combination of the values. */
function product(factors: Factors, names: readonly string[]): { readonly [factor: string]: unknown }[] {
  return names.reduce<{ readonly [factor: string]: unknown }[]>(
    (before, name) =>
      before.flatMap((chosen) => (factors[name] ?? [undefined]).map((value) => ({ ...chosen, [name]: value }))),
    [{}],
  );
}

export function sweepCells(file: SweepFile, options: PlanOptions, known: Known): StudyCell[] {
  const { runs, seed, starts, quick } = options;
  const cells = file.blocks.flatMap((block) => {
    const factors: Factors = { ...usual, ...file.factors, ...block, ...(quick ? file.quick : {}) };
    const others = Object.keys(factors).filter((name) => !problemFactors.includes(name) && !cellFactors.includes(name));
    checkOptions(file, factors, others, known);
    // Sizes that are compared have draws of their own.
    const isSized = (block.points ?? file.factors.points ?? []).length > 1;
    return product(factors, problemFactors).flatMap((problem) =>
      Array.from({ length: runs }, (_, at) => at + 1).flatMap((run) => {
        const drawn = problemOf(
          problem,
          { run, seed: seedOfRun(seed, run, isSized ? Number(problem.points) : 0) },
          known,
        );
        return product({ start: starts, ...factors }, [...cellFactors, ...others]).map((chosen): StudyCell => {
          return { study: file.study, ...drawn, ...methodOf(file, chosen, others, known) };
        });
      }),
    );
  });
  // What differs in factors that a method does not know is the same cell.
  return [...new Map(cells.map((cell) => [JSON.stringify(cell), cell])).values()];
}

/** A word that no method of the block takes is a slip of the pen. */
function checkOptions(file: SweepFile, factors: Factors, others: readonly string[], known: Known): void {
  const bases = (factors.method ?? []).map((name) => baseOf(file, String(name)));
  for (const base of bases) {
    if (!Object.hasOwn(known.methods, base)) {
      throw new TypeError(
        `sweep ${file.study} must name methods of ${Object.keys(known.methods).join(", ")}, got ${base}`,
      );
    }
  }
  const stranger = others.find((option) => !bases.some((base) => takes(known.methods[base], option)));
  if (stranger === undefined) return;
  const words = [...problemFactors, ...cellFactors].join(", ");
  throw new TypeError(`sweep ${file.study} must have factors of ${words} or options of its methods, got ${stranger}`);
}

function takes({ takes: forms }: Method, option: string): boolean {
  return forms === undefined || Object.hasOwn(forms, option);
}

function baseOf({ methods: named }: SweepFile, name: string): string {
  return String(named[name]?.method ?? name);
}

function problemOf(
  chosen: { readonly [factor: string]: unknown },
  { run, seed }: { run: number; seed: number },
  known: Known,
) {
  const { data, split = null, points, k, held_back = false, scores } = chosen;
  const named: Partial<SweptData> = typeof data === "object" ? (data as SweptData) : { name: String(data) };
  const { name: dataset = "", devices = Number(chosen.devices) } = named;
  const request = { devices, pointsPerDevice: Number(points), seed };
  const facts = known.data(dataset, request);
  return {
    dataset,
    split: split as string | null,
    heldBack: Boolean(held_back),
    devices: facts.devices ?? request.devices,
    pointsPerDevice: facts.isDrawn ? request.pointsPerDevice : null,
    k: facts.k ?? Number(k),
    isScored: Boolean(scores ?? !facts.isDrawn),
    run,
    seed,
  };
}

/** The method with what it knows: a graph, a start, alpha and options. */
function methodOf(
  file: SweepFile,
  chosen: { readonly [factor: string]: unknown },
  others: readonly string[],
  known: Known,
) {
  const method = String(chosen.method);
  const base = baseOf(file, method);
  const own = known.methods[base];
  const isAlone = own === methods.local || own === methods.pooled;
  const start = isAlone || chosen.start === "none" || !takes(own, "init") ? null : (chosen.start as StartName);
  const { method: _, ...named } = file.methods[method] ?? {};
  const isFit = own === methods.fedkm;
  // The auto start has updates of its own.
  const updates = isFit && start !== "auto" ? ((chosen.updates ?? {}) as CellOptions) : {};
  const swept = others
    .filter((option) => chosen[option] !== undefined && takes(own, option))
    .map((option) => [option, chosen[option]]);
  return {
    graph: isAlone ? null : String(chosen.graph),
    method,
    base,
    start,
    // Methods from outside may know it.
    alpha: isFit || takes(own, "alpha") ? Number(chosen.alpha) : null,
    options: { ...named, ...updates, ...Object.fromEntries(swept) } as CellOptions,
    rounds: Number(chosen.rounds),
  };
}
