// SVG as a file of its own and as a part of a page, dark where the reader prefers that.
/// <reference lib="dom" />

import { escaped } from "./html.ts";
import { darkRules, ink, paper } from "./palette.ts";

export const SVG = "http://www.w3.org/2000/svg";

/** `name` is what a screen reader says and what a browser shows on hovering, `body` the markup of what is drawn. */
export function svgFile(picture: { width: number; height: number; name: string; body: string }): string {
  const { width, height, name, body } = picture;
  const size = `width="${width}" height="${height}"`;
  const drawn = `<rect ${size} fill="${paper}"></rect>${body}`;
  const opening = `<svg xmlns="${SVG}" ${size} viewBox="0 0 ${width} ${height}" role="img" color="${ink}">`;
  return `${opening}<title>${escaped(name)}</title><style>${darkRules(drawn)}</style>${drawn}</svg>\n`;
}

/** A drawing as a part of an HTML page: named for screen readers, without a style sheet of its own. */
export function svgPart(drawing: Element, name: string): string {
  for (const sheet of [...drawing.querySelectorAll("style")]) sheet.remove();
  for (const element of drawing.querySelectorAll("*")) {
    roundCoordinates(element);
    // What Plot calls its marks is nothing that somebody who does not see them can use.
    if (element.textContent === "") element.removeAttribute("aria-label");
  }
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", name);
  return drawing.outerHTML;
}

export type Attributes = Readonly<Record<string, string | number>>;

export function svgElement(document: Document, tag: string, attributes: Attributes, content = ""): Element {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (content !== "") element.textContent = content;
  return element;
}

/** A hundredth of a pixel is enough for the eye, and is the same on every machine. Changes the element. */
export function roundCoordinates(element: Element): void {
  for (const { name, value } of element.attributes) {
    const rounded = value.replaceAll(/-?\d+\.\d{3,}(e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(2))));
    if (rounded !== value) element.setAttribute(name, rounded);
  }
}
