// What a plug-in may add, by name: methods, data sets, graphs and measures, and how plug-ins are loaded. Names that are
// taken and exports that cannot be meant are refused in one line.

import { existsSync } from "node:fs";
import module from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type FitModel, type Graph, type Matrix, type Method, methods, type Partition } from "@fedkm/core";
import { measureColumns, type StudyCell } from "../cell.ts";
import * as hooks from "./hooks.ts";

/** How much data a plug-in is asked for. */
export interface DataRequest {
  readonly devices: number;
  readonly pointsPerDevice: number;
  readonly seed: number;
}

/** Data that a plug-in has made. */
export interface PluginData {
  /** One matrix for each device. */
  readonly datasets: readonly Matrix[];
  /** The class of every point, where known. */
  readonly labels?: readonly Uint32Array[];
  /** As many clusters as they have, where known. */
  readonly k?: number;
}

/** Which graph a plug-in is asked for. */
export interface GraphRequest {
  readonly devices: number;
  readonly seed: number;
  /** What stands behind the colon of name:text; empty without one. */
  readonly text: string;
}

/** What a method found, and on what. */
export interface MeasuredResult {
  readonly model: FitModel;
  readonly datasets: readonly Matrix[];
  readonly labels?: readonly Uint32Array[] | undefined;
  readonly graph: Graph;
  readonly reference: Matrix;
}

/** The exports of a plug-in, all of them optional there. */
export interface Plugins {
  readonly methods: { readonly [name: string]: Method };
  readonly datasets: { readonly [name: string]: (request: DataRequest) => PluginData };
  readonly graphs: { readonly [name: string]: (request: GraphRequest) => Graph };
  readonly measures: { readonly [name: string]: (result: MeasuredResult) => number };
}

export const noPlugins: Plugins = { methods: {}, datasets: {}, graphs: {}, measures: {} };

type Kind = keyof Plugins;

const kinds = Object.keys(noPlugins) as Kind[];

/** What the built-in ones are called. */
const taken: { readonly [kind in Kind]: readonly string[] } = {
  methods: Object.keys(methods),
  datasets: ["iso", "var", "aniso", "communities", "iris", "digits", "features"],
  graphs: ["complete", "ring", "path", "star", "er", "knn", "geometric", "communities"],
  measures: ["cost", "time", ...measureColumns],
};

/** Plug-ins so far and the exports of a further one. `file` is what a refusal calls it. */
function withPlugin(before: Plugins, file: string, exports: Readonly<Record<string, unknown>>): Plugins {
  const refuse = (rule: string, got: string): never => {
    throw new TypeError(`plug-in ${file} must ${rule}, got ${got}`);
  };
  const stranger = Object.keys(exports).find((name) => !kinds.some((kind) => kind === name));
  if (stranger !== undefined || Object.keys(exports).length === 0) {
    refuse(`export some of ${kinds.join(", ")} and nothing else`, stranger ?? "no export");
  }
  const merged = kinds.map((kind) => {
    const added: unknown = exports[kind] ?? {};
    if (typeof added !== "object" || added === null || Array.isArray(added)) {
      return refuse(`export ${kind} as an object of functions by name`, shown(added));
    }
    for (const [name, value] of Object.entries(added)) {
      if (typeof value !== "function") refuse(`have a function as ${kind}.${name}`, shown(value));
      if (!/^\w[\w-]*$/.test(name)) refuse(`name ${kind} with letters, digits, _ and -`, `"${name}"`);
      if (taken[kind].includes(name) || Object.hasOwn(before[kind], name)) {
        refuse(`add ${kind} under names that are free`, `"${name}"`);
      }
    }
    return [kind, { ...before[kind], ...added }];
  });
  return Object.fromEntries(merged) as Plugins;
}

function shown(value: unknown): string {
  return Array.isArray(value) ? "a list" : value === null ? "null" : typeof value;
}

/** All measures of a result; null where one is not a finite number. */
export function pluginMeasures(plugins: Plugins, result: MeasuredResult): Record<string, number | null> {
  const values = Object.entries(plugins.measures).map(([name, measure]) => {
    const value = measure(result);
    return [name, Number.isFinite(value) ? value : null];
  });
  return Object.fromEntries(values);
}

// The built file also where the sources are run, as in tests: the thread of the hooks cannot read TypeScript.
const builtHooks = new URL("../../dist/plugins/hooks.js", import.meta.url);

/** Node from 22.15 on, which its types do not say yet. */
interface NewerModule {
  registerHooks?(own: typeof hooks): void;
}

let isRegistered = false;

function registerHooks(): void {
  if (isRegistered) return;
  isRegistered = true;
  const { registerHooks: inThisThread }: NewerModule = module as object;
  // Versions before run hooks in a thread of their own, and later ones warn of that.
  if (inThisThread === undefined) module.register(builtHooks);
  else inThisThread(hooks);
}

/**
 * All plug-ins of the given files, in their order: ES modules in JavaScript or TypeScript, or Python, wherever they lie. A plug-in is
 * code and may do what its user may.
 */
export async function loadExperimentPlugins(files: readonly string[]): Promise<Plugins> {
  let plugins = noPlugins;
  for (const file of files) plugins = withPlugin(plugins, file, await importPlugin(file));
  return plugins;
}

async function importPlugin(file: string): Promise<Readonly<Record<string, unknown>>> {
  if (!/\.(m?[jt]s|py)$/.test(file)) throw new TypeError(`plug-in ${file} must end in .js, .mjs, .ts, .mts or .py`);
  const path = resolve(file);
  if (!existsSync(path)) throw new TypeError(`plug-in ${file} must be a file, got none of that name`);
  if (file.endsWith(".py")) return { ...(await import("./python.ts")).pythonPlugin(file) };
  registerHooks();
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`plug-in ${file} cannot be loaded: ${reason}`, { cause: error });
  }
}

/** The points of a cell that names a data set of a plug-in; undefined for any other. */
export function pluggedPartition(cell: StudyCell, { datasets }: Plugins): Partition | undefined {
  const { dataset, devices, pointsPerDevice, seed } = cell;
  if (!Object.hasOwn(datasets, dataset)) return undefined;
  const drawn = datasets[dataset]({ devices, pointsPerDevice: Number(pointsPerDevice), seed });
  return { datasets: drawn.datasets, labels: drawn.labels ?? drawn.datasets.map(({ rows }) => new Uint32Array(rows)) };
}
