// How methods are drawn: the paper's line styles and marks, in colours that the colour-blind can tell apart.

import type { LineStyle } from "./page.ts";

/** Dashed with discs, dash-dotted with discs, dotted with triangles: as in the paper's figures. */
const lineStyles: { readonly [method: string]: LineStyle } = {
  fedkm: { stroke: "#0072B2", width: 1.6, dashes: "5,3", mark: "circle" },
  local: { stroke: "#6b6b6b", width: 1.4, dashes: "7,3,1,3", mark: "circle" },
  distributed: { stroke: "#C65500", width: 1.8, dashes: "0.1,3.6", mark: "triangle" },
  pooled: { stroke: "#000000", width: 1, mark: "square" },
  consensus: { stroke: "#009E73", width: 2, mark: "circle" },
  gradient: { stroke: "#CC79A7", width: 1.6, mark: "diamond" },
  fkm: { stroke: "#9A7D00", width: 1.6, dashes: "9,3", mark: "square" },
  coreset: { stroke: "#56B4E9", width: 1.6, mark: "square" },
  backbone: { stroke: "#E69F00", width: 1.6, mark: "triangle" },
  kfed: { stroke: "#7A4EAB", width: 1.6, mark: "diamond" },
};

/** A method that is not in the table, such as one of the user's own. */
const unknownStyle: LineStyle = { stroke: "#222222", width: 1.6, dashes: "2,2", mark: "diamond" };

export function lineStyle(method: string): LineStyle {
  return lineStyles[method] ?? unknownStyle;
}

/** The names under which the paper's figures know them. */
export const methodTitles: { readonly [method: string]: string } = {
  fedkm: "Algorithm 1",
  local: "Local k-means",
  distributed: "Distributed k-means",
  pooled: "Pooled k-means",
};
