// Notices begin and end with their causes, none hides another, and rows that do not count are said so.

import { matrix } from "@fedkm/core";
import { expect, test } from "vitest";
import { noticeBoard } from "../../src/daemon/notices.ts";
import { linkProblems } from "../../src/daemon/problems.ts";
import { rowSourceCounts, rowsFault } from "../../src/daemon/rowSource.ts";
import type { LinkStatus } from "../../src/daemon/status.ts";
import { studyWith } from "../problem.ts";

function board() {
  const lines: string[] = [];
  let second = 0;
  const now = () => new Date(1000 * second++);
  const notices = noticeBoard(
    { info: (_, line) => lines.push(`info ${line}`), warn: (_, line) => lines.push(`warn ${line}`) },
    now,
  );
  return { notices, lines };
}

const at = (second: number) => new Date(1000 * second).toISOString();

test("noticeBoard keeps one notice for each cause, with its beginning and its end, and logs each change once", () => {
  const { notices, lines } = board();
  for (let times = 0; times < 3; times++) notices.set("state", "full");
  notices.set("data", "gone");
  notices.set("state", "still full");
  expect(notices.list()).toEqual([
    { cause: "state", link: null, text: "still full", since: at(0), until: null },
    { cause: "data", link: null, text: "gone", since: at(1), until: null },
  ]);
  notices.set("state", undefined);
  notices.set("state", undefined);
  expect(notices.list()).toEqual([
    { cause: "data", link: null, text: "gone", since: at(1), until: null },
    { cause: "state", link: null, text: "still full", since: at(0), until: at(2) },
  ]);
  expect(lines).toEqual(["warn full", "warn gone", "warn still full", "info over: still full"]);
});

test("noticeBoard ends what is no longer wrong with links, also of a link that is gone, and leaves the rest", () => {
  const { notices } = board();
  notices.set("data", "gone");
  const away = { cause: "away", link: "south", text: "south is away" } as const;
  const order = { cause: "order", link: "south", text: "south runs twice" } as const;
  const other = { cause: "away", link: "west", text: "west is away" } as const;
  notices.setLinks([away, order, other]);
  const open = () => notices.list().flatMap(({ text, until }) => (until === null ? [text] : []));
  expect(open()).toEqual(["gone", "south is away", "south runs twice", "west is away"]);
  notices.setLinks([other]);
  expect(open()).toEqual(["gone", "west is away"]);
  notices.setLinks([]);
  expect(open()).toEqual(["gone"]);
});

test("noticeBoard remembers the latest 20 that are over", () => {
  const { notices } = board();
  for (let n = 0; n < 100; n++) {
    notices.set("data", `fault ${n}`);
    notices.set("data", undefined);
  }
  expect(notices.list().map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, n) => `fault ${99 - n}`));
});

test("linkProblems names every trouble of a link, and a ban until the link stands again", () => {
  const sound = {
    name: "south",
    peer: "s",
    isConnected: true,
    isAway: false,
    refusal: null,
    conflict: null,
    fault: null,
    relays: [],
  };
  const link = (changes: object) => ({ ...sound, ...changes }) as Partial<LinkStatus> as LinkStatus;
  const bans = new Map([["s", "a frame was too long"]]);
  expect(linkProblems([link({})], bans, new Set())).toEqual([]);
  const ill = {
    isAway: true,
    refusal: "another study, alpha: 1 here, 2 there",
    conflict: "runs twice",
    version: 1,
    isConnected: false,
    isRestless: true,
  };
  expect(linkProblems([link(ill)], bans, new Set(["south"]))).toEqual([
    { cause: "away", link: "south", text: expect.stringMatching(/^south is away/) },
    { cause: "study", link: "south", text: "south is refused: another study, alpha: 1 here, 2 there" },
    { cause: "order", link: "south", text: "south runs twice" },
    { cause: "version", link: "south", text: expect.stringMatching(/^south speaks protocol 1, this device 2/) },
    { cause: "ban", link: "south", text: "south is kept away for a while: a frame was too long" },
    { cause: "restless", link: "south", text: expect.stringMatching(/^south never rests: /) },
  ]);
});

test("linkProblems names the relay that is gone, once the neighbour behind it could not be reached", () => {
  const behind = { name: "south", isConnected: false, failure: "no", relays: ["west"], isRelay: false };
  const links = (changes: object, isRelay: boolean) =>
    [
      { ...behind, ...changes },
      { name: "west", isConnected: true, relays: [], isRelay },
    ] as unknown as LinkStatus[];
  expect(linkProblems(links({}, false), new Map(), new Set())).toEqual([
    { cause: "relay", link: "south", text: "south cannot be reached: west, which relayed to it, does not relay now" },
  ]);
  expect(linkProblems(links({}, true), new Map(), new Set())).toEqual([]);
  expect(linkProblems(links({ failure: null }, false), new Map(), new Set())).toEqual([]);
  expect(linkProblems(links({ isConnected: true }, false), new Map(), new Set())).toEqual([]);
});

test("rowsFault says that no row counts, or more than one in twenty does not, and by which features", () => {
  const study = studyWith({ k: 3, minimum: 2 });
  const rows = (inside: number, outside: number) =>
    rowSourceCounts(study, matrix([...Array(inside).fill([1, 2]), ...Array(outside).fill([31, -2])] as number[][]));
  expect(rowsFault(study, rows(200, 0))).toBeUndefined();
  expect(rowsFault(study, rows(190, 10))).toBeUndefined();
  expect(rowsFault(study, rows(189, 11))).toBe(
    "11 of 200 rows do not count: 11 are out of the study's bounds (x1 is not within -30 and 30 in 11)",
  );
  expect(rowsFault(study, rows(0, 200))).toBe(
    "none of 200 rows counts, 6 are needed (k 3 x minimum 2): 200 are out of the study's bounds (x1 is not within -30 and 30 in 200)",
  );
  expect(rowsFault(study, rows(5, 0))).toBe("none of 5 rows counts, 6 are needed (k 3 x minimum 2)");
  expect(rowsFault(study, { rows: 0, left: 0, outside: [0, 0] })).toBeUndefined();
});
