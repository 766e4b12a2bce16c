// The cells of centroids as the playground paints them: the nearest centroid of every pixel.

import { randomStream } from "@fedkm/core";
import { expect, test } from "vitest";
import { mixedPanelPixel, paintPanelCells, panelPixel } from "../src/playground/views/painter.ts";

const SIDE = 24;
const colours = ["#000001", "#000002", "#000003", "#000004", "#000005"].map(panelPixel);

function painted(sites: readonly number[]): Uint32Array {
  // A margin on all sides, which must stay as it is.
  const width = SIDE + 4;
  const canvas = { pixels: new Uint32Array(width * (SIDE + 4)), width };
  paintPanelCells(canvas, { left: 2, top: 2, side: SIDE }, sites, colours);
  expect(canvas.pixels.filter((pixel) => pixel === 0).length).toBe(width * width - SIDE * SIDE);
  return Uint32Array.from({ length: SIDE * SIDE }, (_, i) => {
    return canvas.pixels[(2 + Math.floor(i / SIDE)) * width + 2 + (i % SIDE)];
  });
}

/** By the definition, at a place in the square. */
function nearest(sites: readonly number[], x: number, y: number): number {
  const away = (c: number) => (sites[2 * c] - x) ** 2 + (sites[2 * c + 1] - y) ** 2;
  return colours[Array.from(sites.slice(sites.length / 2), (_, c) => c).sort((a, b) => away(a) - away(b) || a - b)[0]];
}

test("paintPanelCells gives every pixel the colour of its nearest site, but for those on a border", () => {
  const random = randomStream(3, "cells");
  let compared = 0;
  for (let run = 0; run < 300; run++) {
    const count = 1 + Math.floor(random() * colours.length);
    // Also outside of the square, on each other, and below each other.
    const sites = Array.from({ length: 2 * count }, () => Math.round(random() * 40 - 8) / (run % 2 === 0 ? 1 : 4));
    painted(sites).forEach((pixel, i) => {
      const [x, y] = [i % SIDE, Math.floor(i / SIDE) + 0.5];
      const [left, right] = [nearest(sites, x, y), nearest(sites, x + 1, y)];
      if (left !== right) return;
      compared++;
      expect(pixel, JSON.stringify({ sites, x, y })).toBe(left);
    });
  }
  expect(compared).toBeGreaterThan(100_000);
});

test("mixed goes from one colour to the other, channel by channel", () => {
  const [white, blue] = [panelPixel("#ffffff"), panelPixel("#0072b2")];
  expect(mixedPanelPixel(white, blue, 0)).toBe(white);
  expect(mixedPanelPixel(white, blue, 256)).toBe(blue);
  expect(panelPixel("#fff")).toBe(white);
  expect(panelPixel("#1aF")).toBe(panelPixel("#11aaff"));
  expect(mixedPanelPixel(white, blue, 128)).toBe(panelPixel("#7fb8d8"));
});
