// The progress line is for people who look on, and goes away.

import { expect, test } from "vitest";
import { progressOn, progressWatch } from "../src/progress.ts";
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

test("a fit says its round, how many there can be, and how long they take at most", () => {
  const said: string[] = [];
  let time = 0;
  const show = (text: string) => void said.push(text);
  const watch = progressWatch({ show, announce: show, erase: () => {} }, [], () => time);
  // The start and the opening take long, which says nothing about later rounds.
  for (const [round, at] of [
    [0, 50_000],
    [2, 90_000],
    [3, 90_300],
    [7, 91_500],
    [22, 96_000],
  ]) {
    time = at;
    watch({ step: "round", round, most: 22, objective: 10 - round / 10 });
  }
  expect(said).toEqual([
    "fedkm  round 0 of at most 22  objective 10.00",
    "fedkm  round 2 of at most 22  objective 9.800",
    "fedkm  round 3 of at most 22  objective 9.700",
    "fedkm  round 7 of at most 22  objective 9.300  at most 5 s left",
    "fedkm  round 22 of at most 22  objective 7.800  at most 0 s left",
  ]);
});
