// PNG and PDF from SVG without a browser, with a font of our own: text is there on a machine without fonts, and the same on
// all. A PDF is one page of the picture's size, vectors only.
/// <reference lib="dom" />

import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { Resvg } from "@resvg/resvg-js";
import { parseHTML } from "linkedom";

/** Inter in Latin, Greek and Cyrillic; fonts/README.md says how they were cut. */
const fontFiles = ["Regular", "SemiBold"].map((weight) =>
  fileURLToPath(new URL(`../fonts/Inter-${weight}.ttf`, import.meta.url)),
);

/** The picture, read; also what PDF is written from. */
function resvg(svg: string, zoom: number): Resvg {
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: "Inter", sansSerifFamily: "Inter" };
  return new Resvg(svg, { font, fitTo: { mode: "zoom", value: zoom } });
}

/** Two pixels for each of the picture's. */
export function toPng(svg: string): Uint8Array {
  return resvg(svg, 2).render().asPng();
}

/** A pixel is a 96th of an inch, a point a 72nd. */
const POINTS = 0.75;

/**
 * resvg writes the picture as paths and groups only: styles are resolved, arcs are curves and letters are outlines of our
 * font. So a PDF needs no font, which is what journals ask for (none that is not embedded), and no dependency.
 */
export function toPdf(svg: string): Uint8Array {
  const { document } = parseHTML(resvg(svg, 1).toString());
  const root = document.querySelector("svg");
  if (root === null) throw new Error("svg must have a root element, got none");
  const [width, height] = ["width", "height"].map((side) => POINTS * Number(root.getAttribute(side)));
  const opacities = new Opacities();
  // PDF counts from the lower edge up.
  const content = [`${POINTS} 0 0 ${-POINTS} 0 ${height} cm`, ...drawn(root, document, opacities, 1)].join("\n");
  return file(width, height, content, opacities);
}

function* drawn(parent: Element, document: Document, opacities: Opacities, opacity: number): Generator<string> {
  for (const element of parent.children) {
    const tag = element.tagName.toLowerCase();
    if (tag !== "g" && tag !== "path") continue;
    yield "q";
    const matrix = /matrix\(([^)]*)\)/.exec(element.getAttribute("transform") ?? "")?.[1];
    const numbers = matrix?.split(" ").map((value) => Number(value).toFixed(6));
    if (numbers !== undefined) yield `${numbers.join(" ")} cm`;
    const clip = /url\(#([^)]*)\)/.exec(element.getAttribute("clip-path") ?? "")?.[1];
    if (clip !== undefined) {
      for (const path of document.querySelectorAll(`[id="${clip}"] path`)) yield `${outline(path)} W n`;
    }
    // Our groups with an opacity have parts that do not overlap, so each part may have it instead.
    const own = opacity * numberOf(element, "opacity", 1);
    if (tag === "g") yield* drawn(element, document, opacities, own);
    else yield* painted(element, opacities, own);
    yield "Q";
  }
}

function* painted(path: Element, opacities: Opacities, opacity: number): Generator<string> {
  const fill = path.getAttribute("fill") ?? "none";
  const stroke = path.getAttribute("stroke") ?? "none";
  const alpha = (of: "fill" | "stroke") => opacity * numberOf(path, `${of}-opacity`, 1);
  yield opacities.name(alpha("fill"), alpha("stroke"));
  const filled = path.getAttribute("fill-rule") === "evenodd" ? "f*" : "f";
  const steps: string[] = [];
  if (fill !== "none") steps.push(`${colour(fill)} rg ${outline(path)} ${filled}`);
  if (stroke !== "none") steps.push(`${colour(stroke)} RG ${pen(path)} ${outline(path)} S`);
  // The halo of letters lies under them.
  yield* path.getAttribute("paint-order")?.startsWith("stroke") ? steps.reverse() : steps;
}

function pen(path: Element): string {
  const caps = ["butt", "round", "square"].indexOf(path.getAttribute("stroke-linecap") ?? "butt");
  const joins = ["miter", "round", "bevel"].indexOf(path.getAttribute("stroke-linejoin") ?? "miter");
  const dashes = path.getAttribute("stroke-dasharray") ?? "";
  const limit = numberOf(path, "stroke-miterlimit", 4);
  const offset = numberOf(path, "stroke-dashoffset", 0);
  return `${numberOf(path, "stroke-width", 1)} w ${caps} J ${Math.max(0, joins)} j ${limit} M [${dashes}] ${offset} d`;
}

/** Of M, L, Q, C and Z, which are all that resvg writes; PDF has no Q. */
function outline(path: Element): string {
  const operators: string[] = [];
  let at: readonly number[] = [0, 0];
  for (const [, letter, rest] of (path.getAttribute("d") ?? "").matchAll(/([MLQCZ])([^MLQCZ]*)/g)) {
    const numbers = Array.from(rest.matchAll(/[^\s,]+/g), Number);
    const points = letter === "Q" ? cubic(at, numbers) : numbers;
    operators.push(`${points.map(short).join(" ")} ${{ M: "m", L: "l", Q: "c", C: "c", Z: "h" }[letter]}`);
    if (numbers.length > 0) at = numbers.slice(-2);
  }
  return operators.join(" ");
}

/** The same curve with two handles instead of one. */
function cubic([x, y]: readonly number[], [handleX, handleY, endX, endY]: readonly number[]): number[] {
  const toHandle = (from: number, handle: number) => from + (2 / 3) * (handle - from);
  return [toHandle(x, handleX), toHandle(y, handleY), toHandle(endX, handleX), toHandle(endY, handleY), endX, endY];
}

function colour(hex: string): string {
  return [1, 3, 5].map((at) => (Number.parseInt(hex.slice(at, at + 2), 16) / 255).toFixed(4)).join(" ");
}

function numberOf(element: Element, attribute: string, missing: number): number {
  return Number(element.getAttribute(attribute) ?? missing);
}

/** A hundredth of a pixel, never written with an exponent, which PDF does not know. */
function short(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** The pairs of opacities in use, each a resource of the page. */
class Opacities {
  readonly #pairs = new Map<string, string>();

  name(fill: number, stroke: number): string {
    const pair = `<< /ca ${short(fill)} /CA ${short(stroke)} >>`;
    const name = this.#pairs.get(pair) ?? `/O${this.#pairs.size}`;
    this.#pairs.set(pair, name);
    return `${name} gs`;
  }

  toString(): string {
    return `<< ${Array.from(this.#pairs, ([pair, name]) => `${name} ${pair}`).join(" ")} >>`;
  }
}

/** Four objects and the table of where they begin. No date, so that the same picture gives the same bytes. */
function file(width: number, height: number, content: string, opacities: Opacities): Uint8Array {
  const packed = deflateSync(content);
  const page = `/Parent 2 0 R /MediaBox [0 0 ${short(width)} ${short(height)}] /Contents 4 0 R`;
  const head = [
    "%PDF-1.4\n",
    "1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n",
    "2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n",
    `3 0 obj\n<< /Type /Page ${page} /Resources << /ExtGState ${opacities} >> >>\nendobj\n`,
    `4 0 obj\n<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`,
  ];
  const starts = head.map((_, i) => head.slice(0, i).join("").length).slice(1);
  const tail = "\nendstream\nendobj\n";
  const table = head.join("").length + packed.length + tail.length;
  const rows = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`).join("");
  const end = `xref\n0 5\n0000000000 65535 f \n${rows}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.concat([Buffer.from(head.join("")), packed, Buffer.from(tail + end)]);
}
