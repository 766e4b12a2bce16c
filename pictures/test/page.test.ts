// Pages of HTML and SVG stand alone, and SVG becomes PNG and PDF on a machine without fonts or a browser.

import { inflateSync } from "node:zlib";
import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { xmlFault } from "../../cli/test/wellFormed.ts";
import { toPdf, toPng } from "../src/files.ts";
import { htmlPage, htmlTable } from "../src/html.ts";
import { blankPage } from "../src/page.ts";
import { lineStyle } from "../src/palette.ts";
import { svgFile } from "../src/svg.ts";
import { shortenedLabel, textWidth } from "../src/ticks.ts";

function drawn(): string {
  const page = blankPage(200, 100, "a < b & c");
  page.heading(10, 20, "<script>alert(1)</script>");
  page.label(10, 40, "upwards", { upwards: true });
  page.sample(10, 60, lineStyle("distributed"));
  return page.toString();
}

test("blankPage gives a whole SVG file whose texts are never markup", () => {
  const svg = drawn();
  expect(xmlFault(svg)).toBeUndefined();
  expect(svg).not.toContain("<script>");
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="200" height="100"/);
});

test("blankPage cuts a heading that is longer than the page is wide", () => {
  const page = blankPage(200, 100, "long");
  page.heading(10, 20, "quality against bytes of a file whose name is very long");
  const heading = parseHTML(page.toString()).document.querySelector("text")?.textContent ?? "";
  expect(heading).toContain("…");
  expect(textWidth(heading, 13)).toBeLessThanOrEqual(190);
});

test("htmlPage needs nothing from elsewhere and is light or dark as the reader prefers", () => {
  const page = htmlPage("5 < 6", "<p>text</p>");
  expect(page).toContain("<title>5 &#60; 6</title>");
  expect(page).toContain('<meta name="color-scheme" content="light dark">');
  expect(page).not.toMatch(/https?:|src=|href=|@import|<script/);
});

test("htmlTable escapes text, keeps markup that says so, and names its rows and columns", () => {
  const table = htmlTable({ heading: ["<a>", "b"], rows: [["x & y", { html: "<b>1</b>" }]], names: 1 });
  expect(table).toContain('<th scope="col" class="name">&#60;a&#62;</th><th scope="col">b</th>');
  expect(table).toContain('<th scope="row" class="name">x &#38; y</th><td><b>1</b></td>');
});

test("toPng gives twice the picture's size, with its text, whatever fonts the machine has", () => {
  const view = (png: Uint8Array) => new DataView(png.buffer, png.byteOffset, png.byteLength);
  const png = view(toPng(drawn()));
  expect(png.getUint32(0)).toBe(0x89504e47);
  expect([png.getUint32(16), png.getUint32(20)]).toEqual([400, 200]);
  const body = (text: string) => `<text x="2" y="15" font-family="system-ui, sans-serif">${text}</text>`;
  const written = (text: string) => toPng(svgFile({ width: 60, height: 20, name: "", body: body(text) }));
  expect(written("alpha").length).toBeGreaterThan(written("").length);
});

/** A PDF's page description, and where its table says that objects begin. */
function parsed(pdf: Uint8Array): { text: string; content: string; starts: number[] } {
  const text = Buffer.from(pdf).toString("latin1");
  const from = text.indexOf("stream\n") + "stream\n".length;
  const content = inflateSync(pdf.subarray(from, text.indexOf("\nendstream"))).toString("latin1");
  return { text, content, starts: Array.from(text.matchAll(/^(\d{10}) 00000 n /gm), ([, start]) => Number(start)) };
}

test("toPdf gives one page of the picture's size whose table of objects is right", () => {
  const { text, starts } = parsed(toPdf(drawn()));
  expect(text).toMatch(/^%PDF-1\.4\n/);
  expect(text).toContain("/MediaBox [0 0 150 75]");
  expect(starts.map((start) => text.slice(start, start + 7))).toEqual(["1 0 obj", "2 0 obj", "3 0 obj", "4 0 obj"]);
  expect(text.slice(Number(/startxref\n(\d+)/.exec(text)?.[1]))).toMatch(/^xref\n/);
});

test("toPdf writes vectors: colours, dashes, opacity, clips, and letters as outlines", () => {
  const body = `<clipPath id="half"><rect width="50" height="20"/></clipPath>
    <g clip-path="url(#half)" opacity="0.5"><circle cx="9" cy="9" r="4" fill="#ff0000" fill-opacity="0.5"/></g>
    <path d="M1 2L30 2" stroke="#0000ff" stroke-width="3" stroke-dasharray="4,2" stroke-linecap="round"/>
    <text x="2" y="15" font-family="system-ui, sans-serif" transform="rotate(-90 5 5)">ab</text>`;
  const { text, content } = parsed(toPdf(svgFile({ width: 60, height: 20, name: "", body })));
  expect(content).toContain("1.0000 0.0000 0.0000 rg");
  expect(content).toContain("0.0000 0.0000 1.0000 RG 3 w 1 J 0 j 4 M [4 2] 0 d 1 2 m 30 2 l S");
  expect(content).toContain(" W n");
  expect(text).toContain("/ca 0.25");
  expect(content).toContain("0.000000 -1.000000 1.000000 0.000000 0.000000 10.000000 cm");
  expect(content.split("\n").filter((line) => line === "q")).toHaveLength(
    content.split("\n").filter((line) => line === "Q").length,
  );
  expect(text).not.toMatch(/\/Font|\/Image/);
  expect(content).not.toMatch(/NaN|undefined|e-\d/);
});

test("shortened keeps the beginning and the end, and is never wider than its room", () => {
  expect(shortenedLabel("short", 100)).toBe("short");
  const name = "hospital_of_the_northern_district_number_07";
  expect(shortenedLabel(name, 120)).toMatch(/^hos.*….*_07$/);
  for (const room of [0, 5, 12, 50, 120]) {
    const shown = shortenedLabel(name, room);
    expect(shown === "…" || textWidth(shown) <= room).toBe(true);
  }
});
