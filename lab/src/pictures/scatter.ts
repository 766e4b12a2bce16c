// Points, centroids and rings in the panel of one device, as SVG.

import { type Matrix, matchCentroids, predict, toRows } from "@fedkm/core";
import { clusterColours, faint, paper, pointOpacity } from "@fedkm/pictures";

export type Point = readonly [number, number];
export type Place = (row: readonly number[]) => Point;

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** Where rows lie in a panel: all points fit, at one scale for both axes. */
export interface Scale {
  readonly place: Place;
  /** Pixels of one unit. */
  readonly unit: number;
}

const EDGE = 8;

export function scaleFor(datasets: readonly Matrix[], { width, height }: Box): Scale {
  const rows = datasets.flatMap(toRows);
  const range = [0, 1].map((x) => [Math.min(...rows.map((row) => row[x])), Math.max(...rows.map((row) => row[x]))]);
  const [across, up] = range.map(([low, high]) => high - low);
  const unit = Math.min((width - 2 * EDGE) / across, (height - 2 * EDGE) / up);
  const [left, top] = [(width - unit * across) / 2, (height - unit * up) / 2];
  return { unit, place: ([x, y]) => [left + unit * (x - range[0][0]), top + unit * (range[1][1] - y)] };
}

export function frame({ width, height }: Box): string {
  return `<rect width="${width}" height="${height}" rx="3" fill="${paper}" stroke="${faint}"/>`;
}

/** Rows in the colours of the reference's clusters that their own clusters match, whatever the device calls them. */
export function clustered(points: Matrix, centroids: Matrix, reference: Matrix, place: Place): string {
  const cluster = matchCentroids(centroids, reference);
  const labels = points.rows > 0 ? predict(centroids, points) : [];
  const rows = toRows(points);
  return toRows(reference)
    .map((_, c) => {
      const own = rows.filter((_, r) => cluster[labels[r]] === c);
      return dots(own, place, `stroke="${clusterColours[c]}" stroke-opacity="${pointOpacity}" stroke-width="4"`);
    })
    .join("\n");
}

/** Points as strokes of no length with round ends: a few bytes each. */
export function dots(points: readonly (readonly number[])[], place: Place, style: string): string {
  if (points.length === 0) return "";
  const path = points.map((row) => `M${place(row).map(short).join(" ")}h0`).join("");
  return `<path d="${path}" stroke-linecap="round" ${style}/>`;
}

export function ring([x, y]: Point, radius: number, stroke: string): string {
  return `<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" fill="none" stroke="${stroke}"/>`;
}

/** Centroids as crosses with a halo, in the colours of the reference's clusters that they match. */
export function crosses(centroids: Matrix, reference: Matrix, place: Place): string {
  const cluster = matchCentroids(centroids, reference);
  return toRows(centroids)
    .map((row, c) => {
      const [x, y] = place(row);
      const path = `M${short(x - 4)} ${short(y - 4)}l8 8m0-8l-8 8`;
      const drawn = (stroke: string, width: number) =>
        `<path d="${path}" fill="none" stroke="${stroke}" stroke-width="${width}"/>`;
      return drawn(paper, 5) + drawn(clusterColours[cluster[c]], 2.5);
    })
    .join("");
}

export function short(value: number): string {
  return String(Math.round(10 * value) / 10);
}
