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
  label(x: number, y: number, content: string): void;
  /** The page as a file. */
  toString(): string;
}

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
    label: (x, y, content) => text(x, y, content, { "font-size": labelSize, fill: quiet }),
    toString() {
      for (const element of root.querySelectorAll("*")) roundCoordinates(element);
      return `${root.outerHTML}\n`;
    },
  };
}

const ofTheFrame: ReadonlySet<string> = new Set(["class", "width", "height", "viewBox", "xmlns"]);

/** A hundredth of a pixel is enough for the eye, and is the same on every machine. */
export function roundCoordinates(element: Element): void {
  for (const attribute of element.attributes) {
    const { name, value } = attribute;
    const rounded = value.replaceAll(/-?\d+\.\d{3,}(e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(2))));
    if (rounded !== value) element.setAttribute(name, rounded);
  }
}
