// The progress line is for people who look on, and goes away.

import { expect, test } from "vitest";
import { progressOn } from "../src/progress.ts";
import { fakeConsole } from "./fakeConsole.ts";

test("progressOn writes nothing where nobody looks on", () => {
  const { stderr, said } = fakeConsole();
  const progress = progressOn(stderr);
  progress.show("round 1");
  progress.announce("drawing");
  progress.erase();
  expect(said().stderr).toBe("");
});

test("progressOn replaces the line, and at the end leaves it empty", () => {
  const { stderr, said } = fakeConsole({ terminal: true });
  const progress = progressOn(stderr, () => 0);
  progress.show("round 1");
  progress.announce("drawing");
  progress.erase();
  expect(said().stderr).toBe("\r\u001b[Kround 1\r\u001b[Kdrawing\r\u001b[K");
});

test("progressOn skips what comes too soon to be read", () => {
  const { stderr, said } = fakeConsole({ terminal: true });
  const times = [0, 0, 10, 60, 60];
  const progress = progressOn(stderr, () => times.shift() ?? 0);
  for (const round of [1, 2, 3]) progress.show(`round ${round}`);
  expect(said().stderr).toBe("\r\u001b[Kround 1\r\u001b[Kround 3");
});
