// Messy files of readers: none is clustered by an id, all give devices that are linked, and what is refused can be cured on
// the same screen.

import { describe, expect, it, test } from "vitest";
import { defaultSetup, type Setup } from "../src/engine/setup.ts";
import { playgroundData } from "../src/engine/story.ts";
import { type OwnData, ownCommand, readOwn } from "../src/playground/own.ts";
import { messyFiles, refusedFiles } from "./messyFiles.ts";

const setupOf = (own: OwnData, k = 3): Setup => {
  return { ...defaultSetup, data: "own", graph: "ring", devices: own.datasets.length, k };
};

test("the page shows no command for what none can do", async () => {
  const own = await readOwn(messyFiles[0].files, 12, 3);
  const shown = (changes: Partial<Setup>) => ownCommand(own, { ...setupOf(own), ...changes });
  expect(shown({})).toContain("fedkm fit own-devices.csv --k 3");
  for (const changes of [{ robust: true }, { graph: "grid" }, { method: "local" }, { start: "aligned" }] as const) {
    expect(shown(changes), Object.keys(changes)[0]).toBeUndefined();
  }
  expect(shown({ events: [{ round: 2, kind: "leave", device: 0 }] })).toBeUndefined();
});

describe("a reader's file", () => {
  it.each(messyFiles)("with $what is clustered by its measures, on linked devices", async (messy) => {
    const { files, used, devices, choice, k = 3 } = messy;
    const own = await readOwn(files, 12, k, choice);
    expect(own.refusal).toBeUndefined();
    expect(own.columns.filter(({ isUsed }) => isUsed).map(({ name }) => name)).toEqual(used);
    expect(own.datasets).toHaveLength(devices);
    for (const { cols, data } of own.datasets) {
      expect(cols).toBe(used.length);
      expect(data.every(Number.isFinite)).toBe(true);
    }
    const { links } = playgroundData(setupOf(own, k), own.datasets);
    expect(new Set(links.flat()).size).toBe(devices);
  });

  it.each(refusedFiles)("with $what is refused with a reason, and cured on the same screen", async (refused) => {
    const { files, choice, cure } = refused;
    const first = await readOwn(files, 12, 3, choice).catch((error: Error) => ({ refusal: error.message }));
    expect(first.refusal).toMatch(/\w+ \w+/);
    const cured = await readOwn(cure.files ?? files, 12, 3, cure.choice);
    expect(cured.refusal).toBeUndefined();
    expect(cured.datasets.length).toBeGreaterThan(1);
  });
});
