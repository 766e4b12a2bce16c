// How methods are drawn: dashes and marks first, then hue, so that grey print can tell lines apart.

import { ink, lineColours } from "./palette.ts";

export interface LineStyle {
  readonly stroke: string;
  /** The colour of the line's name, which is darker where the line itself is too light to read. */
  readonly name: string;
  readonly width: number;
  readonly dashes?: string;
  readonly mark: Mark;
}

export type Mark = "circle" | "triangle" | "square" | "diamond" | "cross";

const lineForms: { readonly [method: string]: Omit<LineStyle, "stroke" | "name"> } = {
  fedkm: { width: 2, mark: "circle" },
  "fedkm-ot": { width: 1.6, dashes: "6,3", mark: "cross" },
  consensus: { width: 2, mark: "square" },
  distributed: { width: 2, dashes: "0.1,4", mark: "triangle" },
  local: { width: 1.5, dashes: "8,3,1.5,3", mark: "square" },
  pooled: { width: 1, mark: "square" },
  gradient: { width: 1.6, dashes: "5,3", mark: "diamond" },
  fkm: { width: 1.6, dashes: "9,3", mark: "square" },
  coreset: { width: 1.6, dashes: "2,2", mark: "square" },
  backbone: { width: 1.6, dashes: "12,3,3,3", mark: "triangle" },
  kfed: { width: 1.6, dashes: "6,2,2,2", mark: "diamond" },
};

/** Of a method that is not in the table, such as one of the user's own. */
const unknownForm: Omit<LineStyle, "stroke" | "name"> = { width: 1.6, dashes: "3,3", mark: "diamond" };

export function lineStyle(method: string): LineStyle {
  const { line, name } = lineColours.get(method) ?? { line: ink, name: ink };
  return { stroke: line, name, ...(lineForms[method] ?? unknownForm) };
}

/** What Plot's line and rule marks need of a style. */
export function strokeOptions({ stroke, width, dashes }: LineStyle) {
  const dashed = dashes === undefined ? {} : { strokeDasharray: dashes, strokeLinecap: "round" as const };
  return { stroke, strokeWidth: width, ...dashed };
}

/** The names under which the paper's figures know them. */
export const methodTitles: { readonly [method: string]: string } = {
  fedkm: "Algorithm 1",
  local: "Local k-means",
  distributed: "Distributed k-means",
  pooled: "Pooled k-means",
};
