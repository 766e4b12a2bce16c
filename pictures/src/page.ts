// The page a picture is drawn on: a document for Plot without a browser, and parts joined into one standalone SVG.
/// <reference lib="dom" />

import { parseHTML } from "linkedom";
import { ink, type LineStyle, type Mark, quiet } from "./palette.ts";
import { type Attributes, roundCoordinates, SVG, svgElement, svgFile } from "./svg.ts";
import { labelSize, shortenedLabel, textSize, titleSize } from "./ticks.ts";

/** A page on which drawings and words are placed. */
export interface SvgPage {
  /** What parts are drawn with; elements of another document cannot be placed. */
  readonly document: Document;
  /** Puts a drawing on the page, its upper left corner at (x, y). */
  place(drawing: Element, x: number, y: number): void;
  title(x: number, y: number, content: string): void;
  heading(x: number, y: number, content: string): void;
  text(x: number, y: number, content: string): void;
  /** `anchor` is where its point is in it. */
  label(
    x: number,
    y: number,
    content: string,
    placed?: { readonly anchor?: "start" | "middle" | "end"; readonly upwards?: boolean },
  ): void;
  /** A line, and a mark at its middle: the sample of a legend. */
  sample(x: number, y: number, style: LineStyle): void;
  toString(): string;
}

const SAMPLE = 34;

/** A document to draw with where there is no browser. */
export function blankDocument(): Document {
  return parseHTML("<html></html>").document;
}

/** `name` is what a screen reader says and what a browser shows on hovering. */
export function blankPage(width: number, height: number, name: string): SvgPage {
  const document = blankDocument();
  const root = svgElement(document, "g", { xmlns: SVG });
  const add = (tag: string, attributes: Attributes, content?: string) =>
    root.append(svgElement(document, tag, attributes, content));
  const text = (x: number, y: number, content: string, style: Attributes) =>
    add("text", { x, y, "font-family": "system-ui, sans-serif", "font-size": textSize, ...style }, content);
  // A title is the user's own text and may be of any length.
  const fitting = (x: number, content: string, size: number) => shortenedLabel(content, width - x, 1.06 * size);
  return {
    document,
    place(drawing, x, y) {
      const group = svgElement(document, "g", { transform: `translate(${x},${y})` });
      // A nested svg would be cut at its edges, and Plot's style sheet is for a page in a browser.
      for (const { name, value } of drawing.attributes) if (!ofTheFrame.has(name)) group.setAttribute(name, value);
      for (const child of [...drawing.children]) if (child.tagName.toLowerCase() !== "style") group.append(child);
      root.append(group);
    },
    title: (x, y, content) =>
      text(x, y, fitting(x, content, titleSize), { "font-size": titleSize, "font-weight": 600, fill: ink }),
    heading: (x, y, content) => text(x, y, fitting(x, content, textSize), { "font-weight": 600, fill: ink }),
    text: (x, y, content) => text(x, y, content, { fill: quiet }),
    label(x, y, content, { anchor = "start", upwards = false } = {}) {
      const anchored = anchor === "start" ? {} : { "text-anchor": anchor };
      const turned = upwards ? { transform: `rotate(-90 ${x} ${y})` } : {};
      text(x, y, content, { "font-size": labelSize, fill: quiet, ...anchored, ...turned });
    },
    sample(x, y, { stroke, width, dashes, mark }) {
      const dashed = dashes === undefined ? {} : { "stroke-dasharray": dashes, "stroke-linecap": "round" };
      add("line", { x1: x, x2: x + SAMPLE, y1: y, y2: y, stroke, "stroke-width": width, ...dashed });
      add("path", { d: markPaths[mark], fill: stroke, transform: `translate(${x + SAMPLE / 2},${y})` });
    },
    toString() {
      for (const element of root.querySelectorAll("*")) roundCoordinates(element);
      return svgFile({ width, height, name, body: root.innerHTML });
    },
  };
}

const ofTheFrame: ReadonlySet<string> = new Set(["class", "width", "height", "viewBox", "xmlns"]);

const markPaths: { readonly [mark in Mark]: string } = {
  circle: "M-2.5,0A2.5,2.5 0 1 0 2.5,0A2.5,2.5 0 1 0 -2.5,0Z",
  triangle: "M0,-3.4L3,2L-3,2Z",
  square: "M-2.3,-2.3H2.3V2.3H-2.3Z",
  cross: "M-3,-1H-1V-3H1V-1H3V1H1V3H-1V1H-3Z",
  diamond: "M0,-3.3L2.6,0L0,3.3L-2.6,0Z",
};
