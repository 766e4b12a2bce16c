// One numbering of clusters for a network: which of the k places a centroid has, and how it keeps its place.
// An order says for each place which row stands there.

import { type Matrix, matchCentroids, takeRows } from "@fedkm/core";
import type { DeviceSketch } from "../wire/studyFrames.ts";
import { openingSketch, openingSketchCentroids } from "./sketch.ts";

/** By the coordinates: for a device that knows nobody's numbering. */
export function sortedNumbering({ data, rows, cols }: Matrix): number[] {
  const compare = (a: number, b: number) => {
    for (let f = 0; f < cols; f++) {
      const difference = data[a * cols + f] - data[b * cols + f];
      if (difference !== 0) return difference;
    }
    return a - b;
  };
  return Array.from({ length: rows }, (_, c) => c).sort(compare);
}

/** As the counterparts in `reference` stand, which are those of the lowest total distance. */
export function orderLike(own: Matrix, reference: Matrix): number[] {
  const order = new Array<number>(own.rows);
  matchCentroids(own, reference).forEach((place, c) => {
    order[place] = c;
  });
  return order;
}

export function isNumberedInOrder(order: readonly number[]): boolean {
  return order.every((c, place) => c === place);
}

/**
 * The common start in the order in which most of its sketches have their clusters. Every device orders its sketch by the numbers
 * that it has, so those who were there before outvote who comes, and equal sketches give equal numbers everywhere.
 */
export function numberedOpeningStart(start: Matrix, sketches: readonly DeviceSketch[]): Matrix {
  return takeRows(start, orderLike(start, meanPlaces(start, sketches)));
}

/** The mean of what the sketches have in each place. Where none has anything it is the mean of the common start. */
function meanPlaces({ data: start, rows: k, cols }: Matrix, sketches: readonly DeviceSketch[]): Matrix {
  // Sums of one order have the same bits everywhere.
  const sorted = [...sketches].sort((a, b) => a.origin - b.origin);
  const data = new Float64Array(k * cols);
  for (let i = 0; i < data.length; i++) {
    const given = sorted.filter(({ shares }) => shares[Math.floor(i / cols)] > 0);
    const values =
      given.length > 0 ? given.map(({ centroids }) => centroids[i]) : start.filter((_, s) => s % cols === i % cols);
    data[i] = Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
  }
  return { data, rows: k, cols };
}

/** A sketch with its clusters in the places of a start; the same sketch if they are there, or if it lacks some. */
export function sketchNumberedLike(sketch: DeviceSketch, start: Matrix): DeviceSketch {
  if (sketch.shares.includes(0)) return sketch;
  const order = orderLike(openingSketchCentroids(sketch), start);
  if (isNumberedInOrder(order)) return sketch;
  const { shares, version } = sketch;
  const { data } = takeRows(openingSketchCentroids(sketch), order);
  return { ...sketch, version: version + 1, shares: shares.map((_, place) => shares[order[place]]), centroids: data };
}

/** The sketch of own clusters, in the order of the numbers that they have, if they have some. */
export function numberedSketch(
  { centroids, counts }: { readonly centroids: Matrix; readonly counts: ArrayLike<number> },
  numbers: Matrix | undefined,
  minimum: number,
): Omit<DeviceSketch, "origin" | "version"> {
  const order = numbers === undefined ? sortedNumbering(centroids) : orderLike(centroids, numbers);
  const ordered = order.map((c) => counts[c]);
  return openingSketch(takeRows(centroids, order), ordered, minimum);
}
