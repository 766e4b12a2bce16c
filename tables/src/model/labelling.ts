// What it takes to label a row, and nothing else: how its cells become numbers, and the centroids of one device or of all.

import { type Matrix, matrix, toRows } from "@fedkm/core";
import { applyScaling, type Transform, undoScaling } from "@fedkm/files";
import { firstNames } from "../numbers.ts";
import { RequestError } from "../request.ts";
import { encodingOfModel, type Model, scaledCentroids } from "./model.ts";

/** A number that is compared: (transform(x) - offset) / scale, where x is a cell, or 1 for one value of it and 0 otherwise. */
export interface LabelColumn {
  /** Of the files. */
  readonly name: string;
  /** Of a category. */
  readonly value?: string;
  readonly transform: Transform | null;
  readonly offset: number;
  readonly scale: number;
  /** What takes the place of a missing cell; without it the row has no label. */
  readonly fill?: number;
}

export interface Labelling {
  readonly columns: readonly LabelColumn[];
  /** On the scale of the numbers that are compared. */
  readonly centroids: readonly (readonly number[])[];
  /** Of clusters, where they have names. */
  readonly names?: readonly string[];
  /** Whose centroids they are; undefined: those of all devices together. */
  readonly device?: string;
}

/** So many devices are named in a refusal. */
const MOST_NAMES = 12;

/** The name that stands for all devices together. */
export const COMMON = "common";

export function labellingOf(model: Model, name?: string): Labelling {
  const { scaling, missing, clusters } = model;
  const columns = encodingOfModel(model).flatMap(
    ({ name, values }) => values?.map((value) => ({ name, value })) ?? [{ name }],
  );
  const device = modelDeviceNumber(model, name);
  const names = clusters?.every(({ name }) => name !== undefined)
    ? clusters.map(({ name }) => String(name))
    : undefined;
  return {
    columns: columns.map((column, c) => ({
      ...column,
      transform: scaling.transforms?.[c] ?? null,
      offset: scaling.offset[c],
      scale: scaling.scale[c],
      ...(missing.fill && { fill: missing.fill[c] }),
    })),
    centroids: toRows(modelCentroids(model, device)),
    ...(names && { names }),
    ...(device >= 0 && { device: model.devices[device].name }),
  };
}

/** The number of the device with the name, -1 for all of them together. A network of one has no choice. */
export function modelDeviceNumber({ devices }: Model, name: string | undefined): number {
  const names = devices.map((device) => device.name);
  if (name === undefined) return names.length === 1 ? 0 : -1;
  const number = names.indexOf(name);
  if (number >= 0 || name === COMMON) return number;
  throw new RequestError(
    `--device must be ${COMMON} or a device of the model (${firstNames(names, MOST_NAMES)}), got "${name}"`,
  );
}

/** The same of rows that name their device, as `where` says. */
function modelDeviceNamed({ devices }: Model, name: string, where: string): number {
  const names = devices.map((device) => device.name);
  if (names.includes(name)) return names.indexOf(name);
  throw new RequestError(
    `${where} must be a device of the model (${firstNames(names, MOST_NAMES)}), got "${name}"; label new devices with --device ${COMMON}`,
  );
}

/** The same of a row whose cell in a column names its device; where "common" was asked for, new names are taken. */
export function modelDeviceOfRow(model: Model, name: string, column: string, device: string | undefined): number {
  const isNew = device === COMMON && model.devices.every((known) => known.name !== name);
  return isNew ? -1 : modelDeviceNamed(model, name, `column "${column}"`);
}

/** The device that was asked for, or else the one that has the name of `what`. A network of one has no choice. */
export function modelDeviceOrName(model: Model, device: string | undefined, name: string, what: string): number {
  if (device !== undefined || model.devices.length === 1) return modelDeviceNumber(model, device);
  return modelDeviceNamed(model, name, `--device (the name of ${what} if not given)`);
}

/** What labels rows of the device with this number, or of all of them together, on the scale of the model. */
export function modelCentroids(model: Model, device: number): Matrix {
  return device < 0 ? commonCentroids(model) : scaledCentroids(model.devices[device], model.scaling);
}

/**
 * For rows of a device that was not there: the means of each cluster's rows on all devices, on the scale of the model. A
 * cluster without rows, and a model without such means, has the mean of the devices' centroids.
 */
function commonCentroids({ devices, clusters, scaling, options }: Model): Matrix {
  const all = devices.map((device) => scaledCentroids(device, scaling));
  const { rows, cols } = all[0];
  const means = undoScaling(
    { data: all[0].data.map((_, at) => all.reduce((sum, { data }) => sum + data[at], 0) / all.length), rows, cols },
    scaling,
  );
  const centroids = matrix(
    Array.from({ length: options.k }, (_, c) => {
      const { centroid, mean } = clusters?.[c] ?? {};
      return centroid ?? mean ?? means.data.subarray(c * cols, (c + 1) * cols);
    }),
  );
  applyScaling(centroids, scaling);
  return centroids;
}
