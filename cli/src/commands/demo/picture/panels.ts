// Small multiples: what every device holds, how it clusters it, and what its neighbours say.

import { type Matrix, matchCentroids, predict, stack, toRows } from "@fedkm/core";
import { axisTicks, clusterColours, faint, ink, labelSize, paper, pointOpacity, quiet } from "@fedkm/pictures";
import { dot, frame, type Markish, plot, text } from "@observablehq/plot";
import type { Comparison } from "../comparison.ts";

const COLUMNS = 5;
const SIDE = 180;
const ACROSS = 10;
const DOWN = 28;
const margins = { marginLeft: 44, marginRight: 16, marginTop: 20, marginBottom: 26 };

interface Place {
  readonly x: number;
  readonly y: number;
  readonly device: number;
}

/** Where a device's panel stands among the others. */
const facets = {
  fx: ({ device }: { device: number }) => device % COLUMNS,
  fy: ({ device }: { device: number }) => Math.floor(device / COLUMNS),
};

export function drawPanels(document: Document, comparison: Comparison): Element {
  const { datasets } = comparison.problem;
  const rows = Math.ceil(datasets.length / COLUMNS);
  const { x, y } = squareDomains(stack(datasets));
  const ticks = (direction: "across" | "up", domain: readonly [number, number]) =>
    axisTicks({ domain, length: SIDE, spacing: "linear", direction, most: 5 });
  return plot({
    document,
    width: COLUMNS * SIDE + (COLUMNS - 1) * ACROSS + margins.marginLeft + margins.marginRight,
    height: rows * SIDE + (rows - 1) * DOWN + margins.marginTop + margins.marginBottom,
    ...margins,
    style: { fontSize: `${labelSize}px` },
    x: { domain: x, ...ticks("across", x).axis, tickSize: 3, label: null },
    y: { domain: y, ...ticks("up", y).axis, tickSize: 3, label: null },
    fx: { axis: null, paddingInner: ACROSS / (SIDE + ACROSS), paddingOuter: 0 },
    fy: { axis: null, paddingInner: DOWN / (SIDE + DOWN), paddingOuter: 0 },
    color: { type: "identity" },
    marks: [frame({ stroke: faint }), ...marks(comparison)],
  });
}

function marks({ problem, reference, results }: Comparison): Markish[] {
  const { datasets, graph } = problem;
  const { centroids } = results.fedkm.model;
  const points = datasets.flatMap((own, device) => {
    const matched = matchCentroids(centroids[device], reference);
    const labels = predict(centroids[device], own);
    return places(own, device).map((place, r) => ({
      ...place,
      colour: clusterColours[matched[labels[r]] % clusterColours.length],
    }));
  });
  const crosses = centroids.flatMap(places);
  const rings = centroids.flatMap((_, device) =>
    Array.from(graph.neighbours[device]).flatMap((neighbour) => places(centroids[neighbour], device)),
  );
  const titles = graph.neighbours.map(({ length }, device) => {
    return { device, title: `device ${device + 1}, ${length} ${length === 1 ? "neighbour" : "neighbours"}` };
  });
  const at = { ...facets, x: "x", y: "y" } as const;
  const cross = { ...at, symbol: "times", r: 3.5 } as const;
  return [
    dot(points, { ...at, r: 2, fill: "colour", fillOpacity: pointOpacity }),
    // The halo lies below the rings, or it would cut them.
    dot(crosses, { ...cross, stroke: paper, strokeWidth: 5 }),
    dot(rings, { ...at, r: 5.25, stroke: ink, strokeWidth: 0.75 }),
    dot(crosses, { ...cross, stroke: ink, strokeWidth: 2 }),
    text(titles, { ...facets, text: "title", frameAnchor: "top-left", dy: -14, fill: quiet }),
  ];
}

function places(points: Matrix, device: number): Place[] {
  return toRows(points).map(([x, y]) => ({ x, y, device }));
}

/** Both axes span the same length, so that on square panels a unit is as long across as up. */
function squareDomains(points: Matrix): { x: [number, number]; y: [number, number] } {
  const rows = toRows(points);
  const ends = [0, 1].map((axis) => {
    const values = rows.map((row) => row[axis]);
    return { low: Math.min(...values), high: Math.max(...values) };
  });
  const half = 0.53 * Math.max(...ends.map(({ low, high }) => high - low));
  const [x, y] = ends.map(({ low, high }): [number, number] => [(low + high) / 2 - half, (low + high) / 2 + half]);
  return { x, y };
}
