// Colours: enough contrast for letters on both grounds, and one dark colour for each light one.

import { readdirSync, readFileSync } from "node:fs";
import { methods } from "@fedkm/core";
import { expect, test } from "vitest";
import {
  clusterColours,
  darkOf,
  darkRules,
  ink,
  lineStyle,
  linkShades,
  paletteVariables,
  paper,
  quiet,
  roomVariables,
} from "../src/palette.ts";

/** The contrast of WCAG 2, from 1 to 21. */
function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((share) => (share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const dark = (colour: string) => darkOf.get(colour) ?? "";

test("text and the names of lines have a contrast of 4.5 on both grounds", () => {
  for (const colour of [ink, quiet, ...Object.keys(methods).map((method) => lineStyle(method).name)]) {
    expect(contrast(colour, paper), colour).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark(colour), dark(paper)), `${colour} on dark`).toBeGreaterThanOrEqual(4.5);
  }
});

test("links with more disagreement stand out more, on both grounds", () => {
  for (const [shades, ground] of [
    [linkShades, paper],
    [linkShades.map(dark), dark(paper)],
  ] as const) {
    const contrasts = shades.map((shade) => contrast(shade, ground));
    expect(contrasts).toEqual([...contrasts].sort((a, b) => a - b));
  }
});

test("every colour has one dark counterpart, and no other file of any workspace names a colour", () => {
  const folder = new URL("../../", import.meta.url);
  const text = readFileSync(new URL("pictures/src/palette.ts", folder), "utf8");
  const pairs = Array.from(text.matchAll(/light: "(#\w{6})", dark: "(#\w{6})"/g), ([, light, on]) => [light, on]);
  expect(pairs.length).toBeGreaterThan(20);
  // Rooms are coloured by variables, which have both; everything else is turned dark by rules.
  const rooms = text.indexOf("const roomShades");
  for (const [light, on] of pairs) {
    if (text.indexOf(`light: "${light}"`) < rooms) expect(darkOf.get(light), light).toBe(on);
    else for (const shade of [light, on]) expect(roomVariables()).toContain(`:${shade}`);
  }
  const workspaces: string[] = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")).workspaces;
  for (const workspace of workspaces) {
    const files = readdirSync(new URL(`${workspace}/src`, folder), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => name.endsWith(".ts") && name !== "palette.ts")) {
      const source = readFileSync(new URL(`${workspace}/src/${file}`, folder), "utf8");
      expect(source.match(/#[0-9A-Fa-f]{6}\b/)?.[0], `${workspace}/src/${file}`).toBeUndefined();
    }
  }
});

test("methods that no colour tells apart differ in dashes or marks", () => {
  const forms = Object.keys(methods)
    .map((method) => lineStyle(method))
    .map(({ dashes, mark, width }) => `${dashes} ${mark} ${width}`);
  expect(new Set(forms).size).toBe(forms.length);
  expect(lineStyle("the user's own").name).toBe(ink);
});

test("darkRules covers the colours of a drawing and no others", () => {
  const rules = darkRules(`<circle fill="${clusterColours[0]}"/>`);
  expect(rules).toContain(`[fill="${clusterColours[0]}"]{fill:${dark(clusterColours[0])}}`);
  expect(rules).not.toContain(clusterColours[1]);
  expect(rules).toMatch(/^@media screen and \(prefers-color-scheme:dark\)/);
});

test("paletteVariables declares the same names for both grounds", () => {
  const [light, onDark] = paletteVariables()
    .split("@media")
    .map((part) => Array.from(part.matchAll(/--([\w-]+):/g), ([, name]) => name));
  expect(light).toContain("ink");
  expect(onDark).toEqual(light);
});
