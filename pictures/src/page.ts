// The page a picture is drawn on: a document for Plot without a browser, and parts joined into one standalone SVG.
/// <reference lib="dom" />

import { parseHTML } from "linkedom";

const SVG = "http://www.w3.org/2000/svg";

/** Text and marks; quiet text; lines that only guide the eye. */
export const ink = "#222222";
export const quiet = "#595959";
export const faint = "#d4d4d4";

/** One size for text, one for labels, one for the title. */
const textSize = 13;
export const labelSize = 11;
const titleSize = 20;

export interface Page {
  /** What parts are drawn with; elements of another document cannot be placed. */
  readonly document: Document;
  /** Puts a drawing of Plot on the page, its upper left corner at (x, y). */
  place(drawing: Element, x: number, y: number): void;
  title(x: number, y: number, content: string): void;
  heading(x: number, y: number, content: string): void;
  text(x: number, y: number, content: string): void;
  label(x: number, y: number, content: string, placed?: Placed): void;
  /** A line, and a mark at its middle: the sample of a legend. */
  sample(x: number, y: number, style: LineStyle): void;
  /** The page as a file. */
  toString(): string;
}

/** Where a label's point is in it, and whether it runs upwards. */
interface Placed {
  readonly anchor?: "start" | "middle" | "end";
  readonly upwards?: boolean;
}

/** How a line is drawn: style first, then hue, so that grey print can tell lines apart. */
export interface LineStyle {
  readonly stroke: string;
  readonly width: number;
  readonly dashes?: string;
  readonly mark: "circle" | "triangle" | "square" | "diamond";
}

const SAMPLE = 34;

/** `name` is what a screen reader says and what a browser shows on hovering. */
export function blankPage(width: number, height: number, name: string): Page {
  const { document } = parseHTML("<html></html>");
  const create = (tag: string, attributes: Readonly<Record<string, string | number>>) => {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    return element;
  };
  const root = create("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", color: ink });
  root.append(create("title", {}), create("rect", { width, height, fill: "white" }));
  root.children[0].textContent = name;
  const text = (x: number, y: number, content: string, style: Readonly<Record<string, string | number>>) => {
    const element = create("text", { x, y, "font-family": "system-ui, sans-serif", "font-size": textSize, ...style });
    element.textContent = content;
    root.append(element);
  };
  const label = (x: number, y: number, content: string, { anchor = "start", upwards = false }: Placed = {}) => {
    const anchored = anchor === "start" ? {} : { "text-anchor": anchor };
    const turned = upwards ? { transform: `rotate(-90 ${x} ${y})` } : {};
    text(x, y, content, { "font-size": labelSize, fill: quiet, ...anchored, ...turned });
  };
  return {
    document,
    place(drawing, x, y) {
      const group = create("g", { transform: `translate(${x},${y})` });
      // A nested svg would be cut at its edges, and Plot's style sheet is for a page in a browser.
      for (const { name, value } of drawing.attributes) if (!ofTheFrame.has(name)) group.setAttribute(name, value);
      for (const child of [...drawing.children]) if (child.tagName.toLowerCase() !== "style") group.append(child);
      root.append(group);
    },
    title: (x, y, content) => text(x, y, content, { "font-size": titleSize, "font-weight": 600, fill: ink }),
    heading: (x, y, content) => text(x, y, content, { "font-weight": 600, fill: ink }),
    text: (x, y, content) => text(x, y, content, { fill: quiet }),
    label,
    sample(x, y, { stroke, width, dashes, mark }) {
      const dashed = dashes === undefined ? {} : { "stroke-dasharray": dashes, "stroke-linecap": "round" };
      root.append(
        create("line", { x1: x, x2: x + SAMPLE, y1: y, y2: y, stroke, "stroke-width": width, ...dashed }),
        create("path", { d: markPath(mark), fill: stroke, transform: `translate(${x + SAMPLE / 2},${y})` }),
      );
    },
    toString() {
      for (const element of root.querySelectorAll("*")) roundCoordinates(element);
      return `${root.outerHTML}\n`;
    },
  };
}

const ofTheFrame: ReadonlySet<string> = new Set(["class", "width", "height", "viewBox", "xmlns"]);

function markPath(mark: LineStyle["mark"]): string {
  const paths = {
    circle: "M-2.5,0A2.5,2.5 0 1 0 2.5,0A2.5,2.5 0 1 0 -2.5,0Z",
    triangle: "M0,-3.4L3,2L-3,2Z",
    square: "M-2.3,-2.3H2.3V2.3H-2.3Z",
    diamond: "M0,-3.3L2.6,0L0,3.3L-2.6,0Z",
  };
  return paths[mark];
}

/** A hundredth of a pixel is enough for the eye, and is the same on every machine. */
export function roundCoordinates(element: Element): void {
  for (const attribute of element.attributes) {
    const { name, value } = attribute;
    const rounded = value.replaceAll(/-?\d+\.\d{3,}(e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(2))));
    if (rounded !== value) element.setAttribute(name, rounded);
  }
}
