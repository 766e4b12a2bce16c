// Whether a model is what its rows and its options give, to rounding: its certificate computed again, and the first thing
// that does not fit, in one line.

import { type Certificate, edges, type Graph, graph, type Matrix } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import type { Scaling } from "@fedkm/files";
import { type Input, type RowsRequest, readInput } from "../input/readTables.ts";
import { clusterSums, clustersOfModel } from "../model/clusterSums.ts";
import { type ClusterModel, encodingOfModel, labelScaled, type Model, selectionOfModel } from "../model/model.ts";
import { isLinkRule, linkDevices } from "../prepare/links.ts";
import { applyChosenScaling, chooseScaling } from "../prepare/scaling.ts";
import { prepareStudyRows, prepareStudyScaling, type StudyPlan } from "../prepare/studyRows.ts";
import { joinedNames } from "../shellWords.ts";
import type { WorkContext } from "../work.ts";
import { certifyModel } from "./certificate.ts";

/** Which model is verified, with which rows. */
export interface VerifyRequest extends Omit<RowsRequest, "missing" | "columns" | "exclude" | "categories" | "sample"> {
  /** Checked by `parseModel` as a whole. */
  readonly model: Model;
  /** Of a model of simulated devices. */
  readonly study?: StudyPlan;
}

/** Whether a model is what its files and options give. */
export interface Verification {
  /** Not there where the rows are not those of the model. */
  readonly certificate?: Certificate;
  /** The first thing that does not fit, in one line. */
  readonly fault?: string | undefined;
}

/** Computes a model again from its rows: `fedkm verify` as a function. */
export async function verifyTables(request: VerifyRequest, context: WorkContext = {}): Promise<Verification> {
  const { model, study, ...rows } = request;
  const reading = {
    dates: "days",
    ...model.reading,
    ...rows,
    ...selectionOfModel(model),
    missing: model.missing.policy,
  } as const;
  const input = await readInput(reading, context, { examine: false });
  return compareWithRows(model, study === undefined ? input : prepareStudyRows(input, study), study);
}

async function compareWithRows(model: Model, input: Input, plan: StudyPlan | undefined): Promise<Verification> {
  const early = deviceFault(model, input) ?? columnFault(model, input) ?? fillFault(model, input);
  if (early !== undefined) return { fault: early };
  const rows = new Map(input.devices.map(({ name, points }) => [name, points]));
  const datasets = model.devices.map(({ name }) => rows.get(name) as Matrix);
  const misfit = scalingFault(model, await scalingOf(model, datasets));
  if (misfit !== undefined) return { fault: misfit };
  applyChosenScaling(datasets, model.scaling);
  const network = networkOf(model);
  const fault = linkFault(model, network, await ruledLinks(model, datasets));
  if (fault !== undefined) return { fault };
  const certificate = certifyModel(model, datasets, network, plan);
  return { certificate, fault: resultFault(model, datasets, certificate) };
}

async function scalingOf(model: Model, datasets: readonly Matrix[]): Promise<Scaling> {
  const { study, scaling, columns } = model;
  if (study !== undefined) return prepareStudyScaling(study);
  // The bounds come from a file that is not the model's.
  if (scaling.kind === "bounds") return scaling;
  const logarithms = columns.filter((_, c) => scaling.transforms?.[c]?.kind === "log");
  const spec = scaling.kind === "log" ? `log:${joinedNames(logarithms)}` : scaling.kind;
  return (await chooseScaling(spec, encodingOfModel(model), datasets)).scaling;
}

function networkOf({ devices, links }: Model): Graph {
  const numbers = new Map(devices.map(({ name }, i) => [name, i]));
  const number = (name: string) => numbers.get(name) ?? -1;
  return graph(
    devices.length,
    links.map(({ devices: [a, b], weight }) => [number(a), number(b), weight] as const),
  );
}

/** The links that the options ask for, where that takes no file. */
async function ruledLinks({ options, devices }: Model, datasets: readonly Matrix[]): Promise<Graph | undefined> {
  const names = devices.map(({ name }) => name);
  return isLinkRule(options.graph) ? linkDevices(options.graph, names, datasets, options) : undefined;
}

/** Numbers from the same rows differ by less: sums may be taken in another order, units cost the last bits. */
const ROUNDING = 1e-8;

function isClose(a: number, b: number, unit = 0): boolean {
  return Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b), unit);
}

/** The devices of the model and their rows are those of the files. */
function deviceFault({ devices }: Model, input: Input): string | undefined {
  const found = new Map(input.devices.map(({ name, points }) => [name, points.rows]));
  for (const { name, rows } of devices) {
    const own = found.get(name);
    if (own === undefined)
      return `device "${name}" must be in the files, got ${[...found.keys()].slice(0, 12).join(", ")}`;
    if (own !== rows) return `device "${name}" must have ${rows} rows, got ${own} in the files`;
  }
  const further = input.devices.find(({ name }) => !devices.some((own) => own.name === name));
  return further && `the files must hold the model's devices alone, got "${further.name}"`;
}

/** The values of categories are those of the files. */
function columnFault({ columns }: Model, input: Input): string | undefined {
  const absent = columns.find((name) => !input.columns.includes(name));
  if (absent !== undefined) return `column "${absent}" must be in the files, got none`;
  const further = input.columns.find((name) => !columns.includes(name));
  return further && `the files must hold the model's values alone, got "${further}"`;
}

/** What filled missing cells is the rows' mean. */
function fillFault({ missing, columns }: Model, { fill }: Input): string | undefined {
  const c = columns.findIndex((_, i) => fill !== undefined && !isClose(fill[i], missing.fill?.[i] ?? Number.NaN));
  return c < 0 || !fill
    ? undefined
    : `missing.fill of column "${columns[c]}" must be ${fill[c]}, got ${missing.fill?.[c]}`;
}

/** The scale is that of the rows. */
function scalingFault({ scaling, columns }: Model, own: Scaling): string | undefined {
  for (const [c, name] of columns.entries()) {
    const [offset, scale] = [scaling.offset[c], scaling.scale[c]];
    if (!isClose(scale, own.scale[c])) return `scaling.scale of column "${name}" must be ${own.scale[c]}, got ${scale}`;
    if (!isClose(offset, own.offset[c], own.scale[c]))
      return `scaling.offset of column "${name}" must be ${own.offset[c]}, got ${offset}`;
    const [found, wanted] = [scaling.transforms?.[c], own.transforms?.[c]].map((transform) =>
      JSON.stringify(transform ?? null),
    );
    if (found !== wanted) return `scaling.transforms of column "${name}" must be ${wanted}, got ${found}`;
  }
  return undefined;
}

/** The links are those that the options ask for. */
function linkFault({ options, devices }: Model, own: Graph, ruled: Graph | undefined): string | undefined {
  if (ruled === undefined) return undefined;
  const named = (network: Graph) =>
    new Set(
      Array.from(edges(network), ([i, j, weight]) => `${devices[i].name} - ${devices[j].name} of weight ${weight}`),
    );
  const [found, wanted] = [named(own), named(ruled)];
  const further = [...found].find((link) => !wanted.has(link));
  if (further !== undefined) return `links must be those of graph ${options.graph}, got ${further}`;
  const absent = [...wanted].find((link) => !found.has(link));
  return absent && `links must be those of graph ${options.graph}, which has ${absent}`;
}

/** Objective, fixed point, labels, and what the model says of itself. */
function resultFault(model: Model, datasets: readonly Matrix[], certificate: Certificate): string | undefined {
  const { objective, history, options } = model;
  // Where every point has a centroid of its own, all that is left of the objective are squares of rounding.
  const unit = Number.EPSILON * largestCoordinate(model) ** 2;
  // Rows of guarded devices that have too few do not count, and what is certified counts all.
  const countsAll = (model.guarded?.rowsLeftOut ?? 0) === 0;
  if (countsAll && !isClose(certificate.objective, objective, unit)) {
    return `objective must be ${certificate.objective} with these rows, centroids and options, got ${objective}`;
  }
  const last = history[history.length - 1].objective;
  if (!isClose(last, objective, unit)) return `the last objective of history must be ${objective}, got ${last}`;
  if (descends(options) && certificate.largestRise > 0) {
    return `the objective must never rise, got a rise of ${certificate.largestRise} in history`;
  }
  const labels = model.devices.map((device, i) => labelScaled(device, model.scaling, datasets[i]));
  return (
    residualFault(model, certificate) ??
    sizeFault(model, labels) ??
    clusterFault(model, datasets, labels) ??
    recordFault(model, certificate)
  );
}

/** Guarded runs hold labels back, so that the objective can rise a little and the end is no fixed point of all rows. */
function descends({ method, privacy }: Model["options"]): boolean {
  return method === "fedkm" && privacy !== "guarded";
}

/**
 * Whether a run that settled is at a fixed point. A point on a border may fall to either side, and moves a centroid
 * then: where there are such, a residual says nothing.
 */
function residualFault(model: Model, { residual, ties }: Certificate): string | undefined {
  const { options, converged } = model;
  if (!descends(options) || !converged || ties > 0) return undefined;
  const { tol = defaults.tol } = options;
  // Each device stood still when it was asked last, and its neighbours since then.
  const most = (4 * tol + defaults.tol) * largestCoordinate(model);
  return residual <= most
    ? undefined
    : `one more update must move no centroid by more than ${most.toPrecision(2)} (it settled), got ${residual.toPrecision(2)}`;
}

/** On the scale on which points are compared, before the offset is taken off: so many digits have a centroid's bits. */
function largestCoordinate({ devices, scaling: { offset, scale } }: Model): number {
  let largest = 0;
  for (const { centroids } of devices) {
    for (const row of centroids) {
      row.forEach((x, c) => {
        largest = Math.max(largest, Math.max(Math.abs(x), Math.abs(offset[c])) / scale[c]);
      });
    }
  }
  return largest;
}

function sizeFault({ devices, options }: Model, labels: readonly Uint32Array[]): string | undefined {
  for (const [i, device] of devices.entries()) {
    const sizes = new Array<number>(options.k).fill(0);
    for (const label of labels[i]) sizes[label]++;
    if (sizes.some((size, c) => size !== device.sizes[c])) {
      return `the clusters of device "${device.name}" must have ${sizes.join(", ")} rows, got ${device.sizes.join(", ")}`;
    }
  }
  return undefined;
}

/** What the model says of the rows in each cluster. */
function clusterFault(
  { clusters, devices, scaling, options }: Model,
  datasets: readonly Matrix[],
  labels: readonly Uint32Array[],
): string | undefined {
  if (clusters === undefined) return undefined;
  const names = devices.map(({ name }) => name);
  const found = clustersOfModel(clusterSums(datasets, labels, options.k, scaling), names, scaling);
  for (const [c, cluster] of found.entries()) {
    for (const field of Object.keys(cluster) as (keyof ClusterModel)[]) {
      const [own, recorded] = [cluster[field], clusters.at(c)?.[field]];
      if (!isSame(own, recorded, scaling.scale)) {
        return `clusters[${c}].${field} must be ${JSON.stringify(own)}, got ${JSON.stringify(recorded)}`;
      }
    }
  }
  return undefined;
}

/** Numbers of a list are in the units of their columns. */
function isSame(own: unknown, recorded: unknown, units: readonly number[]): boolean {
  if (typeof own === "number") return typeof recorded === "number" && isClose(own, recorded, 1);
  if (!Array.isArray(own)) return own === recorded;
  return Array.isArray(recorded) && own.every((value, c) => isClose(value, recorded[c], units[c]));
}

/** A residual near 0 is all rounding, so it is held against the largest coordinate. */
function recordFault(model: Model, certificate: Certificate): string | undefined {
  if (model.certificate === undefined) return undefined;
  const unit = largestCoordinate(model);
  for (const name of Object.keys(certificate) as (keyof Certificate)[]) {
    const [own, recorded] = [certificate[name], model.certificate[name]];
    if (!isClose(own, recorded, name === "residual" ? unit : 1)) {
      return `certificate.${name} must be ${own}, got ${recorded}`;
    }
  }
  return undefined;
}
