// model.json: what a fit found, in the user's units, with all that is needed to label further rows. See docs/model.md.

import {
  type Certificate,
  type FitModel,
  type GuardedSummary,
  type Matrix,
  matrix,
  type Penalty,
  predict,
  type RoundSummary,
} from "@fedkm/core";
import { applyScaling, type Encoding, hasCategories, type MissingPolicy, type Scaling } from "@fedkm/files";
import type { Reading } from "../input/readTables.ts";
import { counted, countLabel } from "../numbers.ts";
import type { MethodSettings } from "../request.ts";

/** What stands in the field `format` of every model. */
export const MODEL_FORMAT = "fedkm-model";
/** Of models that older programs would misread, with categories or transforms, the second; of all others the first. */
export const MODEL_VERSIONS = [1, 2] as const;
/** The method of a model that simulated devices have reached. */
export const DEVICES = "devices";

export type ScalingKind = "none" | "standard" | "robust" | "minmax" | "rank" | "log" | "bounds";

export type ModelScaling = { readonly kind: ScalingKind } & Scaling;

/** What a model writes down of a study, and what is read from it here. */
export interface StudyRecord {
  readonly name: string;
  readonly k: number;
  readonly minimum: number;
  /** "shared": one clustering of all rows, although nothing pulls. */
  readonly clusters?: string | undefined;
  /** Of files: whose each row is, where persons are protected. */
  readonly personColumn?: string | undefined;
  readonly features: readonly { readonly name: string; readonly scale: number }[];
}

interface DeviceModel {
  readonly name: string;
  /** Rows that were clustered. */
  readonly rows: number;
  /** Rows in each cluster. */
  readonly sizes: readonly number[];
  /** Cluster c of one device is the counterpart of cluster c of the others, unless the model `isAlone`. */
  readonly centroids: readonly (readonly number[])[];
}

interface LinkModel {
  readonly devices: readonly [string, string];
  readonly weight: number;
  /** d of the two ends' centroids by the coupling of the options, in scaled units. */
  readonly disagreement: number;
}

/** A cluster as model.json has it: null stands for what its rows cannot say. */
export interface ClusterModel {
  /** As --names has it. */
  readonly name?: string;
  /** On all devices. */
  readonly rows: number;
  /** Of these rows, in the user's units. */
  readonly mean: readonly number[] | null;
  /** Where columns are transformed: the mean on the scale that was clustered, in the user's units. */
  readonly centroid?: readonly number[];
  /** How far a row typically is from the mean of the cluster on its own device, in scaled units. */
  readonly spread: number | null;
  /** How far a device's mean of the cluster typically is from the common one beyond chance, in units of the spread. */
  readonly difference: number | null;
  /** The device whose mean is farthest from the common one, if that is beyond chance, and how far it is. */
  readonly farthest: string | null;
  readonly farthestDifference: number | null;
}

/** A model.json, as docs/model.md describes it. */
export interface Model {
  readonly format: typeof MODEL_FORMAT;
  readonly version: (typeof MODEL_VERSIONS)[number];
  readonly columns: readonly string[];
  /** Where some are categories: the columns of the files, which become `columns`. */
  readonly encoding?: Encoding;
  /** Where some are dates: those of the files that are, as days since the beginning of 1970. */
  readonly dates?: readonly string[];
  /** How the files were read, so that later ones need no options; nothing where they say it all themselves. */
  readonly reading?: Reading;
  readonly scaling: ModelScaling;
  readonly missing: { readonly policy: MissingPolicy; readonly fill?: readonly number[] };
  /**
   * What was not said is not there. The weighting is written since every row counts the same by default: without it every
   * device does, with consensus every row.
   */
  readonly options: Omit<MethodSettings, "penalty"> & {
    readonly k: number;
    readonly alpha: number;
    readonly method: string;
    readonly graph: string;
    readonly seed: number;
    /** With the scale that the fit found, in scaled units. */
    readonly penalty?: Penalty;
  };
  /** Of the method "devices": the study that its devices were simulated with. */
  readonly study?: StudyRecord;
  readonly devices: readonly DeviceModel[];
  /** On all devices together. Not in models of before, nor in those of a single device on a network. */
  readonly clusters?: readonly ClusterModel[];
  readonly links: readonly LinkModel[];
  readonly objective: number;
  readonly rounds: number;
  /** Where rows stayed in their sources: passes over all of them. The rounds are those that counted them. */
  readonly passes?: number;
  readonly converged: boolean;
  readonly messages: number;
  readonly bytes: number;
  readonly history: readonly Omit<RoundSummary, "largestMove">[];
  /** With privacy "guarded": what that cost, and what it kept. */
  readonly guarded?: GuardedSummary;
  /** Not in models of before there were certificates. */
  readonly certificate?: Certificate;
}

/** With the clusters of all devices, as every fit has them. */
export type FittedModel = Model & Required<Pick<Model, "clusters">>;

/** What a model says of a run. */
export type MethodRun = Pick<FitModel, "centroids" | "objective" | "rounds" | "converged" | "penalty" | "guarded"> &
  Pick<Model, "messages" | "bytes" | "history" | "passes">;

/** How the columns of files become those of the model. */
export function encodingOfModel({ columns, encoding }: Pick<Model, "columns" | "encoding">): Encoding {
  return encoding ?? columns.map((name) => ({ name }));
}

/** The columns of files that a model needs, and which of them are categories. */
export function selectionOfModel(model: Pick<Model, "columns" | "encoding">) {
  const encoding = encodingOfModel(model);
  const categories = encoding.filter(({ values }) => values !== undefined).map(({ name }) => name);
  return { columns: encoding.map(({ name }) => name), categories };
}

/** What a model says about its columns, and the version that this takes. */
export function modelVersionParts(encoding: Encoding, scaling: Model["scaling"]) {
  const isNew = hasCategories(encoding) || scaling.transforms !== undefined;
  return { version: MODEL_VERSIONS[isNew ? 1 : 0], ...(hasCategories(encoding) && { encoding }) };
}

/** Whether each of several devices has clusters of its own, whose numbers are matched but need not mean the same. */
export function isModelAlone(model: Pick<Model, "devices" | "links" | "options" | "study">): boolean {
  const { devices, links, options } = model;
  if (devices.length < 2 || isModelShared(model)) return false;
  return links.length === 0 || options.method === "local" || (PULLED.includes(options.method) && options.alpha === 0);
}

/** Methods whose devices are brought together by alpha alone. */
const PULLED = [DEVICES, "fedkm"];

/** Whether devices were simulated whose clusters are one clustering of all rows, although nothing pulls. */
export function isModelShared({ study }: Pick<Model, "study">): boolean {
  return study?.clusters === "shared";
}

/** The rows that were clustered, on all devices. */
export function modelRows({ devices }: Pick<Model, "devices">): number {
  return devices.reduce((sum, { rows }) => sum + rows, 0);
}

/** The centroids of a model's device on the scale on which points are compared. */
export function scaledCentroids(device: Pick<DeviceModel, "centroids">, scaling: Scaling): Matrix {
  const centroids = matrix(device.centroids);
  applyScaling(centroids, scaling);
  return centroids;
}

/** The cluster of every scaled point, by the nearest centroid. Both `fit` and `predict` label with this. */
export function labelScaled(device: Pick<DeviceModel, "centroids">, scaling: Scaling, scaled: Matrix): Uint32Array {
  return predict(scaledCentroids(device, scaling), scaled);
}

// A run in a few words: what ran and how far it came, in the words of the terminal and of the report.

/** The method, or the study whose devices found the clusters, and what brings its devices together. */
export function modelRunWords(model: Model): { readonly name: string; readonly pull: string } {
  const { study, options } = model;
  return {
    name: study === undefined ? options.method : `devices of study ${JSON.stringify(study.name)}`,
    pull: isModelShared(model) ? "shared clusters" : `alpha = ${options.alpha}`,
  };
}

/** How a run ended, in words. */
export function modelEndWords(model: Model): string {
  const { rounds, passes, converged } = model;
  const end = converged ? "settled" : "stopped";
  if (passes !== undefined)
    return `${end} after ${countLabel(passes)} ${passes === 1 ? "pass" : "passes"} over all rows`;
  // Some methods have no rounds to count.
  if (converged && rounds === 0) return end;
  return `${end} after ${counted(rounds, isModelShared(model) ? "generation" : "round")}`;
}
