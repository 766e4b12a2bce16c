// The picture is one standalone SVG with every part in it, for any seed.

import { predict } from "@fedkm/core";
import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { type Comparison, compare, demoProblem } from "../src/commands/demo/comparison.ts";
import { drawPicture } from "../src/commands/demo/picture/picture.ts";
import { xmlFault } from "./wellFormed.ts";

const comparison = compare(demoProblem(1), () => {});
const svg = drawPicture(comparison);

function elements(drawn: string, selector: string): Element[] {
  return Array.from(parseHTML(drawn).document.querySelectorAll(selector));
}

function texts(drawn: string): string[] {
  return elements(drawn, "text").map(({ textContent }) => textContent ?? "");
}

test("drawPicture gives well-formed XML with the namespace that makes it a file of its own", () => {
  expect(xmlFault(svg)).toBeUndefined();
  expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

test("xmlFault sees what is wrong", () => {
  expect(xmlFault("<a><b></a></b>")).toBe("unexpected </a>");
  expect(xmlFault("<a>x & y</a>")).toMatch(/^bare/);
  expect(xmlFault('<a b="1" b="2"/>')).toMatch(/^repeated attribute/);
  expect(xmlFault("<a>")).toBe("unclosed a");
});

test("drawPicture has one panel for each device, of equal square size", () => {
  const frames = elements(svg, '[aria-label="frame"] rect');
  expect(frames).toHaveLength(10);
  expect(new Set(frames.map((frame) => `${frame.getAttribute("width")} x ${frame.getAttribute("height")}`))).toEqual(
    new Set(["180 x 180"]),
  );
  const names = texts(svg).filter((text) => text.startsWith("device "));
  const numbers = names.map((name) => Number.parseInt(name.slice("device ".length), 10));
  expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("drawPicture writes no text smaller than 10 px", () => {
  const sizes = Array.from(svg.matchAll(/font-size[:=]\s*"?([\d.]+)/g), ([, size]) => Number(size));
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(10);
});

test("drawPicture colours a cluster alike on every device, whatever the order of its centroids", () => {
  const { model } = comparison.results.fedkm;
  const turned = model.centroids.map((own, device) => {
    const by = 2 * (device % own.rows);
    return { ...own, data: Float64Array.from(own.data, (_, i) => own.data[(i + by) % own.data.length]) };
  });
  const fedkm = { ...comparison.results.fedkm, model: { ...model, centroids: turned } };
  const other: Comparison = { ...comparison, results: { ...comparison.results, fedkm } };
  const points = comparison.problem.datasets[1];
  expect(predict(turned[1], points)).not.toEqual(predict(model.centroids[1], points));
  const colours = (text: string) =>
    elements(text, '[aria-label="dot"] circle').flatMap((circle) => circle.getAttribute("fill") ?? []);
  expect(colours(drawPicture(other))).toEqual(colours(svg));
  expect(new Set(colours(svg)).size).toBe(3);
});

test("drawPicture names every line of the curves once", () => {
  for (const name of ["local", "fedkm"]) expect(texts(svg).filter((text) => text === name)).toHaveLength(1);
  expect(texts(svg).filter((text) => text.startsWith("distributed"))).toEqual(["distributed, on to 3.4e-24"]);
});

test("drawPicture names a line that ends beside another without covering its name", () => {
  // Here distributed k-means ends at another optimum, next to fedkm.
  const heights = elements(drawPicture(compare(demoProblem(9), () => {})), "text")
    .filter(({ textContent }) => ["local", "fedkm", "distributed"].includes(textContent ?? ""))
    .map((element) => Number(/,([\d.]+)\)/.exec(element.getAttribute("transform") ?? "")?.[1]))
    .sort((a, b) => a - b);
  expect(heights).toHaveLength(3);
  for (let i = 1; i < heights.length; i++) expect(heights[i] - heights[i - 1]).toBeGreaterThan(13);
});
