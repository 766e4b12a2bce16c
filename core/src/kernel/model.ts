// What models can do besides hold numbers: label their points, go to JSON as plain numbers, and predict labels of
// other points, also after they were read back from JSON.

import { checkFinite, checkInteger, checkMatrix, checkShape } from "../data/check.ts";
import { type FlatRows, type Matrix, matrix, type Points, toRows, widenPoints } from "../data/matrix.ts";
import { checkOptions, describeArgument, isList, type OptionNames } from "../data/optionNames.ts";
import { jsKernel } from "./js.ts";
import { kernelStatistics } from "./kernel.ts";
import { fastKernel } from "./wasm.ts";

/**
 * The methods are on the prototype, so that an answer has its numbers and nothing else: two of the same numbers are
 * equal, and one can be sent to a worker.
 */
class JsonModel {
  /** Matrices as nested rows, typed arrays as lists: as they are, both would become objects with a name for each number. */
  toJSON(): object {
    return plain({ ...this }) as object;
  }
}

class NetworkModel extends JsonModel {
  readonly #label: () => readonly Uint32Array[];

  constructor(label: () => readonly Uint32Array[]) {
    super();
    this.#label = label;
  }

  /** A getter, so that the function can be taken off the model too. */
  get labels(): () => readonly Uint32Array[] {
    return this.#label;
  }
}

export function labelledModel<T extends object>(numbers: T): T {
  return Object.assign(new JsonModel(), numbers);
}

/** An answer of a whole network, with the way to its labels: unless given, every point has its device's nearest centroid. */
export function labellingModel<T extends { readonly centroids: readonly Matrix[] }>(
  numbers: T,
  datasets: readonly Points[],
  label = () => datasets.map((points, i) => nearestCentroids(numbers.centroids[i], points)),
): T & { labels(): readonly Uint32Array[] } {
  return Object.assign(new NetworkModel(label), numbers);
}

function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isMatrix(value)) return toRows(value);
  if (isList(value)) return Array.from(value, plain);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

function isMatrix(value: unknown): value is Matrix {
  return typeof value === "object" && value !== null && "data" in value && value.data instanceof Float64Array;
}

/** Centroids as a matrix, or as they are in JSON. */
type Rows = Matrix | FlatRows | ArrayLike<ArrayLike<number>>;

/** How the columns of a model.json were scaled. */
interface ModelScale {
  readonly offset: ArrayLike<number>;
  readonly scale: ArrayLike<number>;
  readonly transforms?: readonly unknown[] | undefined;
}

/** Centroids, a model of one device, one of a network, or what a model.json holds; also as read back from JSON. */
export type Predictor =
  | Rows
  | { readonly centroids: Rows | readonly Rows[] }
  | { readonly devices: readonly { readonly centroids: Rows }[]; readonly scaling: ModelScale };

/** What a model says of how it was made, under the names of model.json. */
export interface ModelRecord {
  readonly version: 1;
  readonly options: {
    readonly k: number | readonly number[];
    readonly alpha: number;
    readonly seed: number;
    readonly coupling?: string;
    readonly weighting?: string;
  };
}

/** Options of `predict`. */
export interface PredictOptions {
  /** Whose centroids of a network's model. */
  device?: number | undefined;
}

const predictOptionNames: OptionNames<PredictOptions> = { device: true };

/**
 * For every point the index of its nearest centroid, the lowest on ties.
 * @example predict([[0], [10]], matrix([[1], [9], [2]])) // [0, 1, 0]
 */
export function predict(model: Predictor, points: Points, options: PredictOptions = {}): Uint32Array {
  checkOptions(options, predictOptionNames);
  const { devices, isOfNetwork, centroidsOf, onScale } = centroidsOfModel(model);
  const { device } = options;
  if (isOfNetwork) checkInteger("device", device, 0, devices - 1, "the devices of model");
  else if (device !== undefined)
    throw new RangeError(
      `device is for models of a network, and this is the model of one device, got device ${describeArgument(device)}`,
    );
  const centroids = centroidsOf(device ?? 0);
  checkMatrix("centroids", centroids);
  checkFinite("points", points);
  if (centroids.rows === 0) throw new RangeError("centroids must have at least 1 row, got 0");
  if (points.rows > 0) checkShape("points", points, points.rows, centroids.cols, "the columns of centroids");
  return nearestCentroids(onScale(centroids), onScale(points));
}

/** The centroids of a model, whoever made it: one set, or one for each device of a network. */
export interface ModelCentroids {
  readonly devices: number;
  readonly isOfNetwork: boolean;
  centroidsOf(device: number): Matrix;
  /** Points or centroids on the scale on which they are compared. */
  onScale<T extends Points>(points: T): T | Matrix;
}

/** The one reader of models: of `fit`, `kmeans` and `fitSources`, of model.json, and of all these as JSON. */
export function centroidsOfModel(model: Predictor): ModelCentroids {
  if (typeof model === "object" && model !== null && "devices" in model) return centroidsOfFile(model);
  const held = typeof model === "object" && model !== null && "centroids" in model ? model.centroids : model;
  if (typeof held !== "object" || held === null) {
    throw new TypeError(`model must be centroids, or have them as centroids, got ${describeArgument(held)}`);
  }
  const isOfNetwork = isList(held) && held.length > 0 && !isRow(held[0]);
  const sets = isOfNetwork ? (held as readonly Rows[]) : [held as Rows];
  return { devices: sets.length, isOfNetwork, centroidsOf: (i) => asMatrix(sets[i]), onScale: (points) => points };
}

/** In the user's units, and compared on the model's scale. */
function centroidsOfFile({ devices, scaling }: Extract<Predictor, { devices: unknown }>): ModelCentroids {
  if (!isList(devices) || devices.length === 0 || scaling?.scale === undefined || scaling.offset === undefined) {
    throw new TypeError("model must have devices with centroids, and a scaling, as a model.json has them");
  }
  if (scaling.transforms?.some((own) => own !== null)) {
    throw new RangeError("model has columns on a scale of logarithms or ranks: use predictTables of @fedkm/tables");
  }
  const { offset, scale } = scaling;
  return {
    devices: devices.length,
    centroidsOf: (i) => asMatrix(devices[i].centroids),
    isOfNetwork: devices.length > 1,
    onScale: ({ data, rows, cols }) => {
      return { data: Float64Array.from(data, (x, at) => (x - offset[at % cols]) / scale[at % cols]), rows, cols };
    },
  };
}

/** Of every device; one set of a single device where a model is of no network. */
export function centroidSetsOfModel(model: Predictor): readonly Matrix[] {
  const { devices, centroidsOf } = centroidsOfModel(model);
  return Array.from({ length: devices }, (_, i) => centroidsOf(i));
}

const asMatrix = (own: Rows): Matrix => (isMatrix(own) ? own : widenPoints(matrix(own)));

/** A row of numbers, and not a set of centroids. */
function isRow(value: unknown): boolean {
  return isList(value) && typeof value[0] === "number";
}

/** The same on matrices that were checked. */
export function nearestCentroids(centroids: Matrix, points: Points): Uint32Array {
  const labels = new Uint32Array(points.rows);
  const prepared = fastKernel.prepare(points);
  prepared.labels(centroids.data, labels);
  prepared.release();
  return labels;
}

/** With fewer numbers than this, a single pass is over before an engine in WebAssembly has its own copy of them. */
const MANY_NUMBERS = 50_000;

/** Sum of squared distances from every point to its nearest centroid. */
export function lossOf(points: Points, centroids: Matrix): number {
  if (points.rows === 0) return 0;
  const prepared = (points.data.length < MANY_NUMBERS ? jsKernel : fastKernel).prepare(points);
  const { loss } = kernelStatistics(prepared, centroids);
  prepared.release();
  return loss;
}
