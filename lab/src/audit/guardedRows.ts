// What whoever keeps all that a guarded device ever published can tell of its rows: whether some combination isolates fewer
// of them than the minimum, by trying every set; and the cluster of the one row that comes each day.

import { matrix, normalStream, randomStream } from "@fedkm/core";
import { oneClass } from "@fedkm/core/privacy";
import { parseStudy, type Study } from "@fedkm/device";
import { decodeHistory, encodeHistory, GuardedRows } from "@fedkm/device/inspect";
import { isHeld, print, progress } from "../measure.ts";
import { lightestSets } from "./lightSets.ts";

const DAY = 86_400_000;
const features = ["x"];

type Clusters = "personal" | "shared";

function studyOf(k: number, minimum: number, clusters: Clusters = "personal"): Study {
  const text = { name: "rows", k, privacy: "guarded", minimum, features: [{ name: "x", unit: "", min: 0, max: 300 }] };
  return parseStudy(JSON.stringify({ ...text, clusters, ...(clusters === "personal" && { alpha: 1 }) }));
}

/** A guard that is started anew whenever it is asked for, from what it had written down. */
function guardOnDisk(study: Study) {
  let saved: Uint8Array | undefined;
  const history = () => (saved === undefined ? undefined : decodeHistory(saved, features));
  return {
    history,
    started(now: number): GuardedRows {
      const memory = {
        saved,
        isLost: false,
        keep(bytes: Uint8Array, done: (failure: string | undefined) => void) {
          saved = bytes;
          done(undefined);
        },
      };
      return new GuardedRows(study, { memory, onKept() {}, wallClock: () => now });
    },
    /** What a guard may not write down it may not send either, and would never send again. */
    keep(guard: GuardedRows): void {
      if (!guard.isKept()) throw new Error(`a guard must keep its history, got: ${guard.status().failure}`);
    },
    /** Rows that counted once are taken for new ones from now on, which they must not be. */
    forgetDeparted(): void {
      const known = history();
      const none = { keys: new Float64Array(0), classes: oneClass(0), isBack: new Uint8Array(0) };
      if (known !== undefined) saved = encodeHistory({ ...known, departed: none });
    },
  };
}

const ELIMINATED_MINIMUM = 4;
const ELIMINATED_DAYS = 40;

/** 40 days of heavy churn with a minimum of 4: all classes that were ever told apart, as sets of rows. */
function churnedGroups(seed: number, clusters: Clusters, isControl: boolean): number[][] {
  const random = randomStream(seed, "churn");
  const disk = guardOnDisk(studyOf(2, ELIMINATED_MINIMUM, clusters));
  const draw = () => 300 * random();
  const anywhere = () => matrix([[draw()], [draw()]]);
  const groups = new Map<string, number[]>();
  const away: number[] = [];
  let values = Array.from({ length: 8 + Math.floor(8 * random()) }, draw);
  for (let day = 0; day < ELIMINATED_DAYS; day++) {
    if (isControl) disk.forgetDeparted();
    const guard = disk.started((1 + day) * DAY);
    if (random() < 0.1) guard.consent();
    const counted = guard.take(matrix(values.map((value) => [value])));
    if (day === 0) guard.publishCores(anywhere());
    for (let step = 0; step < 3 && counted.rows > 0; step++) guard.publish(anywhere());
    disk.keep(guard);
    const known = disk.history()?.counted;
    const classes = new Map<number, number[]>();
    known?.classes.ids.forEach((id, r) => {
      classes.set(id, [...(classes.get(id) ?? []), known.rows.data[r]]);
    });
    for (const rows of classes.values()) groups.set(rows.sort((a, b) => a - b).join(" "), rows);
    const stays = values.filter(() => random() < 0.9);
    const back = away.filter(() => random() < 0.1);
    away.push(...values.filter((value) => !stays.includes(value)));
    values = [...new Set([...stays, ...back, ...Array.from({ length: Math.floor(4 * random()) }, draw)])];
    if (values.length === 0) values = [draw()];
  }
  return [...groups.values()];
}

/** How many histories have sets of fewer rows than the minimum that some combination of sums isolates. */
export function eliminated(histories: number, clusters: Clusters, isControl: boolean) {
  let [isolating, sets] = [0, 0];
  for (let seed = 0; seed < histories; seed++) {
    const groups = churnedGroups(seed, clusters, isControl);
    const rows = new Set(groups.flat()).size;
    sets += rows + (rows * (rows - 1)) / 2 + (rows * (rows - 1) * (rows - 2)) / 6;
    if (lightestSets(groups, 3) > 0) isolating++;
  }
  return { isolating, sets };
}

const ROUND = 10;
const ROUNDS = 30;
const FIRST_ROWS = 100;

interface Round {
  /** Rows of each cluster that came since the last round. */
  readonly came: readonly number[];
  /** Rows of each cluster that began to count, which all neighbours together see. */
  readonly entered: readonly number[];
}

/** One row comes each day, of clusters with these shares: what every round let in. */
function roundsOf(shares: readonly number[], seed: number): Round[] {
  const random = randomStream(seed, "one a day");
  const normal = normalStream(random);
  const disk = guardOnDisk(studyOf(shares.length, ROUND));
  const centres = shares.map((_, c) => 50 + 100 * c);
  const draw = () => {
    let left = random();
    const found = shares.findIndex((share) => {
      left -= share;
      return left < 0;
    });
    return Math.max(0, found);
  };
  const rows: number[][] = [];
  const add = (cluster: number) => rows.push([centres[cluster] + normal()]);
  for (let n = 0; n < FIRST_ROWS; n++) add(draw());
  const countedNow = () => {
    const counts = shares.map(() => 0);
    for (const value of disk.history()?.counted.rows.data ?? []) counts[Math.floor(value / 100)]++;
    return counts;
  };
  const read = (day: number) => {
    const guard = disk.started((1 + day) * DAY);
    guard.take(matrix(rows));
    if (day === 0) guard.publish(matrix(centres.map((at) => [at])));
    disk.keep(guard);
  };
  read(0);
  return Array.from({ length: ROUNDS }, (_, round) => {
    const [before, came] = [countedNow(), shares.map(() => 0)];
    for (let n = 1; n <= ROUND; n++) {
      const cluster = draw();
      came[cluster]++;
      add(cluster);
      read(round * ROUND + n);
    }
    return { came, entered: countedNow().map((count, c) => count - before[c]) };
  });
}

/** A row that is far from the others of its cluster waits on; so seldom that more cannot be told apart. */
const FAR = 1e-3;

/** How likely it is that so many enter of these that wait, of one cluster. */
function chanceOfEntry(waiting: number, entered: number): number {
  if (entered === 0) return waiting < ROUND ? 1 : FAR;
  return entered < ROUND || entered > waiting ? 0 : FAR ** (waiting - entered);
}

/** How ten rows may be spread over clusters, each with its chance. */
function spreads(shares: readonly number[]): { readonly came: readonly number[]; readonly chance: number }[] {
  const found: { came: number[]; chance: number }[] = [];
  const spread = (came: number[], left: number, chance: number) => {
    const share = shares[came.length];
    if (came.length === shares.length - 1) {
      found.push({ came: [...came, left], chance: chance * share ** left });
      return;
    }
    let ways = 1;
    for (let n = 0; n <= left; n++) {
      spread([...came, n], left - n, chance * ways * share ** n);
      ways = (ways * (left - n)) / (n + 1);
    }
  };
  spread([], ROUND, 1);
  return found;
}

/**
 * How many rows of each cluster came in each round, as expected by whoever knows all shares and has seen what entered in all
 * rounds, before and after: nobody can guess better.
 */
function expectedArrivals(shares: readonly number[], rounds: readonly Round[]): number[][] {
  const all = spreads(shares);
  /** Of each state before a round, by the rows of each cluster that wait: its chance, and where it may lead to. */
  interface State {
    chance: number;
    later: number;
    readonly steps: { readonly to: string; readonly chance: number; readonly came: readonly number[] }[];
  }
  const stateOf = (chance: number): State => ({ chance, later: 0, steps: [] });
  const before = [new Map([[shares.map(() => 0).join(" "), stateOf(1)]])];
  for (const { entered } of rounds) {
    const next = new Map<string, State>();
    for (const [name, state] of before[before.length - 1]) {
      const waiting = name.split(" ").map(Number);
      for (const { came, chance } of all) {
        const now = waiting.map((many, c) => many + came[c]);
        const likely = now.reduce((product, many, c) => product * chanceOfEntry(many, entered[c]), chance);
        if (likely === 0) continue;
        const to = now.map((many, c) => many - entered[c]).join(" ");
        state.steps.push({ to, chance: likely, came });
        const known = next.get(to) ?? stateOf(0);
        known.chance += state.chance * likely;
        next.set(to, known);
      }
    }
    const total = [...next.values()].reduce((sum, { chance }) => sum + chance, 0);
    for (const state of next.values()) state.chance /= total;
    before.push(next);
  }
  for (const state of before[rounds.length].values()) state.later = 1;
  return rounds
    .map((_, r) => rounds.length - 1 - r)
    .map((r) => {
      const expected = shares.map(() => 0);
      let total = 0;
      for (const state of before[r].values()) {
        for (const { to, chance, came } of state.steps) {
          const likely = chance * (before[r + 1].get(to)?.later ?? 0);
          state.later += likely;
          total += state.chance * likely;
          came.forEach((many, c) => {
            expected[c] += state.chance * likely * many;
          });
        }
      }
      const scale = Math.max(...Array.from(before[r].values(), ({ later }) => later));
      for (const state of before[r].values()) state.later /= scale;
      return expected.map((many) => many / total);
    })
    .reverse();
}

/** A guess that is right as often as this is as good as certain. */
const CERTAIN = 0.99;

/** The shares of rows whose cluster is guessed by what entered, and by always naming the largest; and that are certain. */
export function guessedClusters(shares: readonly number[], histories: number) {
  const largest = shares.indexOf(Math.max(...shares));
  let [right, popular, certain] = [0, 0, 0];
  for (let seed = 0; seed < histories; seed++) {
    const rounds = roundsOf(shares, seed);
    expectedArrivals(shares, rounds).forEach((expected, r) => {
      const most = Math.max(...expected);
      right += rounds[r].came[expected.indexOf(most)];
      if (most >= CERTAIN * ROUND) certain += ROUND;
      popular += rounds[r].came[largest];
    });
  }
  const rows = histories * ROUNDS * ROUND;
  return { right: right / rows, popular: popular / rows, certain: certain / rows };
}

/** The first is judged; in the others as many rows of each cluster come. */
const SHARES = [
  [0.55, 0.3, 0.15],
  [1 / 3, 1 / 3, 1 / 3],
  [1 / 2, 1 / 2],
];

export function guardedRows(histories: number): boolean {
  const missed: string[] = [];
  const tried = (["personal", "shared"] as const).flatMap((clusters) =>
    [false, true].map((isControl) => {
      progress(`elimination, ${clusters}`);
      const { isolating, sets } = eliminated(histories, clusters, isControl);
      const name = `${clusters}${isControl ? ", rows that counted once taken for new ones" : ""}`;
      if (isControl ? isolating === 0 : isolating > 0) missed.push(name);
      return [name, String(histories), String(sets), String(isolating)];
    }),
  );
  progress("");
  print(`Every set of fewer than ${ELIMINATED_MINIMUM} rows, after ${ELIMINATED_DAYS} days of churn, minimum 4`, [
    ["clusters", "histories", "sets tried", "histories in which one is isolated"],
    ...tried,
  ]);
  const percent = (share: number) => (100 * share).toFixed(1);
  const guessed = SHARES.map((shares, n) => {
    progress(`one row a day, ${shares.length} clusters`);
    const { right, popular, certain } = guessedClusters(shares, histories);
    if (n === 0 && right > popular + 0.02) missed.push("one row a day");
    const name = shares.map((share) => `${(100 * share).toFixed(0)} %`).join(", ");
    return [name, percent(popular), percent(right), (100 * certain).toFixed(2)];
  });
  progress("");
  print(`One row a day, ${ROUND * ROUNDS * histories} rows, minimum ${ROUND}: % whose cluster is guessed rightly`, [
    ["shares of the clusters", "by naming the largest", "by what entered in all rounds", "for certain"],
    ...guessed,
  ]);
  return isHeld("no set but in the controls, and at most 2 points over the largest of unlike clusters", missed);
}
