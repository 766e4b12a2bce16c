// A sweep file: factors with one value or several, blocks of them, methods with settings under names of their own, and
// figures. What it says is checked here, in one line each, before anything runs.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { parse } from "yaml";
import { type CellOptions, parseDeal, startTitles } from "../cell.ts";
import type { SummaryName } from "./plan.ts";

/** Data with more than a name. Of rows of the user's own several files are devices, and one is dealt. */
export interface SweptData {
  readonly name: string;
  readonly devices?: number;
  readonly files?: readonly string[];
  readonly classes?: string;
  readonly exclude?: readonly string[];
}

type FactorValue = string | number | boolean | SweptData | CellOptions;

export type Factors = { readonly [factor: string]: readonly FactorValue[] };

export interface FigureText {
  readonly name?: string;
  readonly title?: string;
  readonly note?: string;
  /** A factor across; without one there is a dot for each method. */
  readonly x?: string;
  readonly y?: string | readonly string[];
  /** A factor, or a factor with the values that are shown. */
  readonly rows?: string;
  readonly columns?: string;
  readonly where?: { readonly [column: string]: string | number };
  readonly methods?: readonly string[];
  readonly names?: { readonly [method: string]: string };
  readonly ticks?: readonly number[];
  readonly log?: boolean;
  readonly summary?: SummaryName;
  readonly level?: number;
  readonly across?: string;
}

export interface SweepFile {
  readonly study: string;
  readonly factors: Factors;
  readonly blocks: readonly Factors[];
  readonly methods: { readonly [name: string]: CellOptions };
  readonly quick: Factors;
  readonly figures: readonly FigureText[];
  /** The paper's figures whose claims are judged by it. */
  readonly claims: readonly number[];
  readonly runs?: number;
  readonly seed?: number;
  /** Other files that are part of it. */
  readonly include: readonly SweepFile[];
}

/** What a file may have besides factors, and the factors that are no options of a method. */
const parts = ["study", "runs", "seed", "methods", "cells", "quick", "figures", "claims", "include"];
export const problemFactors = ["data", "split", "points", "devices", "k", "held_back", "scores"];
export const cellFactors = ["graph", "alpha", "method", "start", "rounds", "updates"];

const figureParts = [
  ...["name", "title", "note", "x", "y", "rows", "columns", "where", "methods", "names", "ticks", "log", "summary"],
  ...["level", "across"],
];

const bundled = new URL("../../studies/", import.meta.url);

/** Those that come with the package, by name. */
export function bundledStudies(): string[] {
  return readdirSync(bundled)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => basename(name, ".yaml"));
}

/** A sweep that comes with the package. */
export function bundledSweep(name: string): SweepFile {
  return parseSweep(readFileSync(new URL(`${name}.yaml`, bundled), "utf8"), name);
}

/** A sweep from a file. */
export function readSweep(file: string): SweepFile {
  if (!existsSync(file)) throw new TypeError(`sweep ${file} must be a file, got none of that name`);
  return parseSweep(readFileSync(file, "utf8"), basename(file).replace(/\.ya?ml$/, ""));
}

/** `name` is that of the study, unless the text says another. */
export function parseSweep(text: string, name: string): SweepFile {
  const refuse = (rule: string): never => {
    throw new TypeError(`sweep ${name} ${rule}`);
  };
  const given: unknown = parse(text);
  if (!isMap(given)) return refuse("must be a map of factors");
  const { study = name, runs, seed, methods = {}, cells = [{}], quick = {}, figures = [], claims = [] } = given;
  const { include = [] } = given;
  const blocks = listOf(cells).map((block) => (isMap(block) ? block : refuse("must have maps of factors as cells")));
  for (const figure of listOf(figures)) {
    const stranger = isMap(figure) ? Object.keys(figure).find((key) => !figureParts.includes(key)) : "a figure";
    if (stranger !== undefined) refuse(`must have figures of ${figureParts.join(", ")}, got ${stranger}`);
  }
  const file = {
    study: String(study),
    factors: factorsOf(Object.fromEntries(Object.entries(given).filter(([key]) => !parts.includes(key)))),
    blocks: blocks.map((block) => factorsOf(block as object)),
    methods: methods as SweepFile["methods"],
    quick: factorsOf(quick as object),
    figures: listOf(figures) as readonly FigureText[],
    claims: listOf(claims) as readonly number[],
    ...(typeof runs === "number" && { runs }),
    ...(typeof seed === "number" && { seed }),
    include: listOf(include).map((other) => bundledSweep(String(other))),
  };
  if (file.include.length === 0) checkFactors(file, refuse);
  return file;
}

function checkFactors({ factors, blocks }: SweepFile, refuse: (rule: string) => never): void {
  for (const block of blocks) {
    const all = { ...factors, ...block };
    for (const needed of ["data", "method"]) if (all[needed] === undefined) refuse(`needs ${needed} in every cell`);
    for (const split of all.split ?? []) {
      if (parseDeal(String(split)) === undefined) {
        refuse(`must have split even, dirichlet:A, classes:K or sizes:S, got ${split}`);
      }
    }
    for (const start of all.start ?? []) {
      if (start !== "none" && !Object.hasOwn(startTitles, String(start))) {
        refuse(`must have start ${Object.keys(startTitles).join(", ")} or none, got ${start}`);
      }
    }
    for (const data of all.data) {
      if (typeof data === "object" && typeof data.name !== "string") refuse("must have a name for data of your own");
    }
  }
}

function factorsOf(given: object): Factors {
  return Object.fromEntries(Object.entries(given).map(([factor, value]) => [factor, listOf(value) as FactorValue[]]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** All data of files that a sweep names, each once. */
export function sweptFiles({ factors, blocks }: SweepFile): (SweptData & { readonly files: readonly string[] })[] {
  const all = [factors, ...blocks].flatMap(({ data = [] }) => data) as readonly (string | SweptData)[];
  const own = all.flatMap((one) => {
    return typeof one === "object" && one.files !== undefined ? [{ ...one, files: one.files }] : [];
  });
  return [...new Map(own.map((one) => [one.name, one])).values()];
}
