// The network: every device and link is there, names stay inside the drawing and apart from each other.

import { describe, expect, test } from "vitest";
import { drawNetwork, drawNetworkKey, linkShade, shadeStep } from "../src/network.ts";
import { blankDocument } from "../src/page.ts";
import { linkShades } from "../src/palette.ts";
import { textWidth } from "../src/ticks.ts";

const WIDTH = 460;

function ringOf(names: readonly string[]): Element {
  const links = names.map((_, i) => ({ ends: [i, (i + 1) % names.length] as const, disagreement: i / names.length }));
  return drawNetwork(blankDocument(), { names, links }, WIDTH);
}

const number = (element: Element, attribute: string) => Number(element.getAttribute(attribute));

/** Left, right, top and bottom of a text, turned around its device if it is. */
function corners(text: Element): (readonly [number, number])[] {
  const [x, y, width] = [number(text, "x"), number(text, "y"), textWidth(text.childNodes[0].textContent ?? "")];
  const left = { start: x, middle: x - width / 2, end: x - width }[text.getAttribute("text-anchor") ?? "start"] ?? x;
  const [degrees, aboutX, aboutY] = /rotate\((\S+) (\S+) (\S+)\)/
    .exec(text.getAttribute("transform") ?? "rotate(0 0 0)")
    ?.slice(1)
    .map(Number) ?? [0, 0, 0];
  const [sine, cosine] = [Math.sin((Math.PI * degrees) / 180), Math.cos((Math.PI * degrees) / 180)];
  return [
    [left, y - 8],
    [left + width, y - 8],
    [left, y + 3],
    [left + width, y + 3],
  ].map(([px, py]) => [
    aboutX + cosine * (px - aboutX) - sine * (py - aboutY),
    aboutY + sine * (px - aboutX) + cosine * (py - aboutY),
  ]);
}

describe("drawNetwork", () => {
  const long = (count: number) =>
    Array.from({ length: count }, (_, i) => `hospital_of_the_northern_district_number_${i + 1}`);

  for (const count of [1, 2, 3, 7, 12, 13, 50, 200]) {
    test(`keeps ${count} names of 40 characters inside the drawing`, () => {
      const drawing = ringOf(long(count));
      expect(drawing.querySelectorAll("circle")).toHaveLength(count);
      const texts = [...drawing.querySelectorAll("text")];
      expect(texts.length).toBeGreaterThan(0);
      for (const [x, y] of texts.flatMap(corners)) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(WIDTH);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(number(drawing, "height"));
      }
    });
  }

  test("shows a name that was cut whole on hovering, and keeps its end, in which it differs", () => {
    const [text] = ringOf(long(50)).querySelectorAll("text");
    expect(text.childNodes[0].textContent).toMatch(/^hos.*….*_1$/);
    expect(text.querySelector("title")?.textContent).toBe("hospital_of_the_northern_district_number_1");
  });

  test("writes short names into the devices", () => {
    const drawing = ringOf(["1", "2", "3"]);
    const [circle] = drawing.querySelectorAll("circle");
    const [text] = drawing.querySelectorAll("text");
    expect(Math.abs(number(circle, "cy") - number(text, "y"))).toBeLessThan(number(circle, "r"));
  });

  test("draws the strongest link last", () => {
    const strokes = Array.from(ringOf(long(6)).querySelectorAll("line"), (line) => line.getAttribute("stroke") ?? "");
    const order = strokes.map((stroke) => linkShades.indexOf(stroke));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order.at(-1)).toBe(4);
  });
});

test("linkShade spans the disagreements by five equal steps", () => {
  const step = shadeStep([0, 0.3, 1]);
  expect(step).toBe(0.2);
  expect([0, 0.19, 0.2, 0.99, 1, 7].map((value) => linkShades.indexOf(linkShade(value, step)))).toEqual([
    0, 0, 1, 4, 4, 4,
  ]);
});

test("shadeStep of devices in perfect agreement is 1", () => {
  expect(shadeStep([0, 0])).toBe(1);
  expect(shadeStep([])).toBe(1);
});

test("drawNetworkKey names the bounds of the shades without letting them touch", () => {
  for (const most of [1e-28, 3.7e-4, 1e-3, 1.2e-3, 1, 123_456, 9.9e14]) {
    const texts = [...drawNetworkKey(blankDocument(), [most]).querySelectorAll("text")];
    const labels = texts.map(({ textContent }) => textContent ?? "");
    expect(new Set(labels).size).toBe(6);
    texts.forEach((text, i) => {
      const half = textWidth(labels[i]) / 2;
      expect(number(text, "x") - half).toBeGreaterThanOrEqual(0);
      expect(number(text, "x") + half).toBeLessThanOrEqual(300);
      if (i > 0) {
        const before = number(texts[i - 1], "x") + textWidth(labels[i - 1]) / 2;
        expect(number(text, "x") - half).toBeGreaterThan(before);
      }
    });
  }
});
