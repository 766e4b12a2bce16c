// Warnings where robustness cannot hold: what a device says of its links and members, and that the dashboard shows it.

import { expect, test } from "vitest";
import { deviceView } from "../../src/daemon/deviceView.ts";
import { linkRemarks, parseStudy } from "../../src/study/study.ts";
import { northStatus } from "./northStatus.ts";

const personal = parseStudy(
  "name: s\nk: 1\nfeatures: [{ name: x, unit: m, min: 0, max: 1 }]\nalpha: 1\nprivacy: open\n",
);
const shared = { ...personal, clusters: "shared", colluders: 2 } as const;

test("two links of a personal study are too few to tell a liar, and one may be that to the hub of a star", () => {
  expect(linkRemarks(personal, 3)).toEqual([]);
  const few = "with fewer than three links a neighbour that lies cannot be told from the others";
  expect(linkRemarks(personal, 2)).toEqual([few]);
  expect(linkRemarks(personal, 1)).toEqual([few, expect.stringContaining("the hub of a star")]);
  expect(linkRemarks({ ...personal, neighbours: "trusted" }, 2)).toEqual([]);
});

test("fewer members than colluders and two others hide nothing", () => {
  expect([linkRemarks(shared, 2, 4), linkRemarks(shared, 2, null), linkRemarks(shared, 2)]).toEqual([[], [], []]);
  expect(linkRemarks(shared, 3, 3)).toEqual([
    "fewer members than 4 (colluders and two others) hide nothing from each other",
  ]);
});

test("the dashboard shows each of them", () => {
  const given = linkRemarks(personal, 1);
  const snapshot = { id: "north", lock: null, study: personal, names: [null], profiles: null, log: [] };
  const { privacy } = deviceView({ ...snapshot, status: { ...northStatus, linkRemarks: given } });
  expect(privacy.facts.filter(({ name }) => name === "links").map(({ value }) => value)).toEqual(given);
});
