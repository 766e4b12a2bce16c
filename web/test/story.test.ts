// The playground's runs: the bits of core where nothing happens, and what events do.

import { fit, globalCentroidDeviation, graph, kmeans, type Matrix } from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { defaultSetup, type Setup, setupAddress, setupFromAddress, unreadSetupSettings } from "../src/engine/setup.ts";
import { type Moment, playgroundData, story } from "../src/engine/story.ts";
import { stops } from "../src/playground/stops.ts";

function run(changes: Partial<Setup>): Moment[] {
  const setup = { ...defaultSetup, ...changes };
  return [...story(playgroundData(setup), setup, setup.method)];
}

test.each([
  ["by default", {}],
  ["from the start that core chooses", { start: "auto", data: "iso" }],
  ["with the paper's own rules", { preset: "paper", data: "aniso" }],
  ["alone", { alpha: 0 }],
  ["from own k-means in one order, which changes nothing for it", { start: "aligned" }],
  [
    "with another penalty, schedule and start",
    { penalty: "truncated", schedule: "random", start: "local", data: "communities" },
  ],
] as const)("story has the bits of fit %s", (_, changes) => {
  const setup: Setup = { ...defaultSetup, ...changes };
  const { datasets, links } = playgroundData(setup);
  const { k, alpha, seed, penalty, preset, schedule, start } = setup;
  const init = start === "auto" ? {} : { init: start === "aligned" ? ("local" as const) : start };
  const expected = fit(datasets, graph(datasets.length, links), {
    k,
    alpha,
    seed,
    penalty,
    preset,
    schedule,
    rounds: 400,
    ...init,
  });
  const moments = run(changes);
  expect(moments.at(-1)?.centroids).toEqual(expected.centroids);
  expect(moments.map(({ objective }) => objective)).toEqual(expected.history.map(({ objective }) => objective));
  expect(moments.map(({ messages }) => messages)).toEqual(expected.history.map(({ messages }) => messages));
});

describe("story", () => {
  const farthest = (moment: Moment | undefined) => moment?.deviation ?? Number.NaN;

  test("shows how one wrong start spreads by the paper's rules, and that the dependable ones cure it", () => {
    const wrong = [{ round: 0, kind: "wrong", device: 3 }] as const;
    const paper = run({ preset: "paper", events: wrong });
    expect(farthest(paper.at(-1))).toBeGreaterThan(1);
    expect(farthest(run({ events: wrong }).at(-1))).toBeLessThan(0.01);
  });

  test("lets a liar pull all others, and a network heal when it has left", () => {
    const lie = { round: 20, kind: "lie", device: 0 } as const;
    const leave = { round: 120, kind: "leave", device: 0 } as const;
    const alone = run({ events: [lie] });
    expect(alone.at(-1)?.frozen.get(0)).toBe("lie");
    expect(farthest(alone.at(-1))).toBeGreaterThan(0.1);
    const healed = run({ events: [lie, leave] });
    expect(healed.at(-1)?.devices).not.toContain(0);
    expect(farthest(healed.at(-1))).toBeLessThan(0.01);
    expect(healed.map(({ round }) => round)).toEqual(
      [...new Set(healed.map(({ round }) => round))].sort((a, b) => a - b),
    );
  });

  test("at the stop of two communities has every device near its own clusters, and none with a large alpha", () => {
    const { setup } = stops[3];
    const { datasets } = playgroundData(setup);
    const fromOwn = (alpha: number) => {
      const { centroids } = run({ ...setup, alpha }).at(-1) as Moment;
      return datasets.map((own, i) => globalCentroidDeviation([centroids[i]], kmeans(own, { k: 3 }).centroids));
    };
    for (const away of fromOwn(setup.alpha)) expect(away).toBeLessThan(4);
    for (const away of fromOwn(100)) expect(away).toBeGreaterThan(15);
  });

  test("keeps what a device that stopped has last sent, and cuts and links", () => {
    const kill = run({ events: [{ round: 2, kind: "kill", device: 4 }] });
    const at = (moment: Moment): Matrix => moment.centroids[moment.devices.indexOf(4)];
    const stopped = kill.filter(({ round }) => round >= 2);
    expect(stopped.length).toBeGreaterThan(2);
    for (const moment of stopped) expect(at(moment)).toEqual(at(stopped[0]));
    const [first] = run({});
    const ends = [first.links[0][0], first.links[0][1]] as const;
    const cut = run({ events: [{ round: 1, kind: "cut", ends }] });
    expect(cut.at(-1)?.links.length).toBe(first.links.length - 1);
    const linked = run({
      events: [
        { round: 1, kind: "cut", ends },
        { round: 2, kind: "link", ends },
      ],
    });
    expect(linked.at(-1)?.links.length).toBe(first.links.length);
  });
});

test("setupFromAddress reads what setupAddress wrote, and leaves what is wrong at its default", () => {
  const setup: Setup = {
    ...defaultSetup,
    data: "skew",
    alpha: 0.25,
    devices: 7,
    heal: false,
    events: [
      { round: 3, kind: "cut", ends: [0, 5] },
      { round: 9, kind: "leave", device: 6 },
    ],
  };
  expect(setupFromAddress(setupAddress(setup, 12))).toEqual({ setup, round: 12 });
  expect(setupFromAddress(setupAddress(setup, Infinity))).toEqual({ setup, round: Infinity });
  expect(setupFromAddress("")).toEqual({ setup: defaultSetup, round: 0 });
  const wrong = "data=x&alpha=-1&devices=1e9&events=1:leave:99+x:lie:1+2:cut:1-1+3:cut:1&round=-4&seed=0.5";
  expect(setupFromAddress(wrong)).toEqual({ setup: defaultSetup, round: 0 });
});

test("unreadSetupSettings names what an address holds in vain", () => {
  expect(unreadSetupSettings("")).toEqual([]);
  expect(unreadSetupSettings("data=iso&alpha=1.0&heal=true&round=3&events=2:cut:0-1+3:kill:5")).toEqual([]);
  expect(unreadSetupSettings("data=iso&round=end")).toEqual([]);
  expect(unreadSetupSettings("dat=iso&alpha=-1&devices=4&events=3:kill:5")).toEqual([
    "dat=iso",
    "alpha=-1",
    "events=3:kill:5",
  ]);
});
