// Rows of a guarded device that come and go: rounds, guests and deletions, and that nothing isolates fewer rows than the minimum.

import { type Matrix, matrix, randomStream } from "@fedkm/core";
import { smallestClass } from "@fedkm/core/privacy";
import { describe, expect, it } from "vitest";
import { eliminated, guessedClusters } from "../../../lab/src/audit/guardedRows.ts";
import { runs } from "../../../test/runs.ts";
import { DELETION_MILLISECONDS, followRows, type RowChange } from "../../src/privacy/admission.ts";
import { GuardedRows } from "../../src/privacy/guardedRows.ts";
import { decodeHistory, emptyHistory, encodeHistory, type PublishedHistory } from "../../src/privacy/history.ts";
import { studyWith } from "../problem.ts";

const rowsOf = (values: readonly number[]): Matrix => matrix(values.map((value) => [value]));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const feature = { name: "x", unit: "", min: -1000, max: 1000, scale: 1 };
const study = studyWith({ k: 2, minimum: 5, features: [feature] });
const DAY = 86_400_000;

/** A history in which rows 0 to 19 count, and labels were published at 5 and 1000. */
function begun(values = range(0, 20), of = study): PublishedHistory {
  const { history } = follow(emptyHistory(["x"], of.minimum), values, { study: of });
  return { ...history, at: Float64Array.of(5, 1000) };
}

function follow(history: PublishedHistory, values: readonly number[], change: Partial<RowChange> = {}) {
  return followRows(history, values.length === 0 ? { data: new Float64Array(0), rows: 0, cols: 1 } : rowsOf(values), {
    study,
    now: DAY,
    ...change,
  });
}

const waitingOf = ({ waiting: { fresh, guests, deleted } }: ReturnType<typeof follow>) => ({ fresh, guests, deleted });
const sizesOf = ({ counted }: PublishedHistory) => Array.from(counted.classes.sizes);

describe("followRows(history, rows, change)", () => {
  it("begins with one class of all rows, if they are enough for all clusters, and begins again until something is published", () => {
    expect(waitingOf(follow(emptyHistory(["x"], 5), range(0, 9)))).toEqual({ fresh: 9, guests: 0, deleted: 0 });
    const first = follow(emptyHistory(["x"], 5), range(0, 10)).history;
    expect(sizesOf(first)).toEqual([10]);
    expect(sizesOf(follow(first, range(3, 14)).history)).toEqual([11]);
  });

  it("lets new rows wait until enough of one kind are there, and then enter as a class of their own", () => {
    const few = follow(begun(), range(0, 24));
    expect(waitingOf(few)).toEqual({ fresh: 4, guests: 0, deleted: 0 });
    expect(sizesOf(follow(begun(), range(0, 25)).history)).toEqual([20, 5]);
    // Three near the first centroid and three near the second wait: no six are of one kind.
    const both = follow(begun(), [...range(0, 23), 991, 992, 993]);
    expect(waitingOf(both)).toEqual({ fresh: 6, guests: 0, deleted: 0 });
    expect(sizesOf(follow(both.history, [...range(0, 23), ...range(987, 996)]).history)).toEqual([20, 9]);
  });

  it("looks at waiting rows only after as many have come as the minimum", () => {
    const seen = follow(begun(), [...range(0, 23), 991, 992, 993]).history;
    // Two more would complete the first kind, but a round for them would tell where they are.
    expect(waitingOf(follow(seen, [...range(0, 25), 991, 992, 993]))).toEqual({ fresh: 8, guests: 0, deleted: 0 });
    expect(waitingOf(follow(seen, [...range(0, 25), ...range(991, 997)]))).toEqual({ fresh: 0, guests: 0, deleted: 0 });
  });

  it("lets a deleted row count until enough can go, or 30 days are over", () => {
    const few = follow(begun(), range(4, 20).reverse());
    expect(waitingOf(few)).toEqual({ fresh: 0, guests: 0, deleted: 4 });
    expect(few.waiting.deletedUntil).toBe(DAY + DELETION_MILLISECONDS);
    expect(sizesOf(follow(begun(), range(5, 20)).history)).toEqual([15]);
    const later = follow(few.history, range(4, 20), { now: DAY + DELETION_MILLISECONDS });
    // Four deleted rows take one along.
    expect(sizesOf(later.history)).toEqual([15]);
    expect(waitingOf(later)).toEqual({ fresh: 0, guests: 1, deleted: 0 });
    expect(waitingOf(follow(few.history, range(4, 20), { now: 2 * DAY }))).toEqual({ fresh: 0, guests: 0, deleted: 4 });
  });

  it("lets a deleted row go at once if the owner says so, and takes company along by chance", () => {
    const now = follow(begun(), range(1, 20), { deletesNow: true });
    expect(waitingOf(now)).toEqual({ fresh: 0, guests: 4, deleted: 0 });
    expect(Array.from(now.history.departed.classes.sizes)).toEqual([5]);
    const small = follow(begun(range(0, 11)), range(1, 11), { deletesNow: true });
    expect(sizesOf(small.history)).toEqual([6]);
    expect(sizesOf(follow(small.history, range(2, 11), { deletesNow: true }).history)).toEqual([]);
  });

  it("lets rows that outlive their class come back with enough new ones, as guests", () => {
    const left = follow(begun(range(0, 14)), range(8, 14)).history;
    expect(sizesOf(left)).toEqual([6]);
    const gone = follow(left, range(10, 14), { deletesNow: true });
    expect(waitingOf(gone)).toEqual({ fresh: 0, guests: 4, deleted: 0 });
    expect(waitingOf(follow(gone.history, range(10, 18)))).toEqual({ fresh: 4, guests: 4, deleted: 0 });
    const back = follow(gone.history, range(10, 19));
    expect(waitingOf(back)).toEqual({ fresh: 0, guests: 0, deleted: 0 });
    expect(sizesOf(back.history)).toEqual([9]);
    expect(smallestClass(back.history.counted.classes)).toBe(5);
  });

  it("lets deleted rows go after half of their class are gone only when the others come to count again with new ones", () => {
    const left = follow(begun(range(0, 14)), range(8, 14)).history;
    expect(sizesOf(left)).toEqual([6]);
    const half = follow(left, [12, 13]);
    expect(waitingOf(half)).toEqual({ fresh: 0, guests: 0, deleted: 4 });
    // New rows of another kind bring nobody back.
    const far = follow(half.history, [12, 13, ...range(990, 996)]);
    expect(waitingOf(far)).toEqual({ fresh: 0, guests: 0, deleted: 4 });
    const near = follow(far.history, [12, 13, ...range(14, 19), ...range(990, 996)]);
    expect(waitingOf(near)).toEqual({ fresh: 0, guests: 0, deleted: 0 });
    expect(sizesOf(near.history)).toEqual([6, 7]);
    expect(smallestClass(near.history.counted.classes)).toBe(5);
    expect(decodeHistory(encodeHistory(near.history), ["x"])).toEqual(near.history);
    // One that is deleted for 15 days goes likewise, and takes four along that are back at once.
    const late = follow(begun(), range(1, 20)).history;
    const gone = follow(late, range(1, 25), { now: DAY + DELETION_MILLISECONDS / 2 });
    expect(waitingOf(gone)).toEqual({ fresh: 0, guests: 0, deleted: 0 });
    expect(sizesOf(gone.history)).toEqual([15, 9]);
  });

  it("knows a file that was cut off for a while: classes come back as they were", () => {
    const empty = follow(begun(), []);
    expect(sizesOf(empty.history)).toEqual([]);
    const back = follow(empty.history, range(0, 20));
    expect(sizesOf(back.history)).toEqual([20]);
    expect(back.history.departed.keys.length).toBe(0);
    expect(waitingOf(follow(empty.history, range(0, 19)))).toEqual({ fresh: 0, guests: 19, deleted: 0 });
  });

  it("counts equal rows as often as they are there", () => {
    const twice = begun([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    expect(waitingOf(follow(twice, [1, 1, 2, 2, 2, 2, 2, 2]))).toEqual({ fresh: 0, guests: 0, deleted: 4 });
    expect(waitingOf(follow(twice, [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]))).toEqual({
      fresh: 1,
      guests: 0,
      deleted: 0,
    });
  });

  it("is the same history after it was written and read, and none with a class that is too small", () => {
    const gone = follow(begun(range(0, 14)), range(10, 14), { deletesNow: true }).history;
    const { history } = follow(gone, [...range(10, 19), 990]);
    expect(decodeHistory(encodeHistory(history), ["x"])).toEqual(history);
    const left = Uint8Array.from(history.counted.classes.sizes, (_, id) => (id === 0 ? 1 : 0));
    const some = { ...history, counted: { ...history.counted, classes: { ...history.counted.classes, left } } };
    expect(decodeHistory(encodeHistory(some), ["x"])).toEqual(some);
    expect(decodeHistory(encodeHistory(history), ["y"])).toBeUndefined();
    const small = { ...history, minimum: 6 };
    expect(() => encodeHistory(small)).toThrow("every class must have 6 own rows, got one of 5");
    const bytes = encodeHistory(history);
    const text = new TextDecoder("latin1").decode(bytes).replace('"minimum":5', '"minimum":6');
    expect(
      decodeHistory(
        Uint8Array.from(text, (c) => c.charCodeAt(0)),
        ["x"],
      ),
    ).toBeUndefined();
  });
});

describe("everything that was ever published, by exhaustive elimination with a minimum of 4", () => {
  const histories = runs({ short: 30, long: 200 });

  it.each(["personal", "shared"] as const)(
    "isolates no set of fewer than 4 rows in 40 days, %s clusters",
    (clusters) => {
      expect(eliminated(histories, clusters, false).isolating).toBe(0);
    },
  );

  it.each(["personal", "shared"] as const)(
    "isolates some where rows that counted once are taken for new ones, %s",
    (clusters) => {
      expect(eliminated(histories, clusters, true).isolating).toBeGreaterThan(5);
    },
  );
});

describe("one new row a day", () => {
  it("does not tell its cluster: the best guess is at most 2 points above the largest of unlike clusters", () => {
    const { right, popular } = guessedClusters([0.55, 0.3, 0.15], runs({ short: 15, long: 100 }));
    expect(right).toBeLessThanOrEqual(popular + 0.02);
    // Whoever sees rounds knows more than whoever does not, so the attack works.
    expect(right).toBeGreaterThan(popular + 0.005);
  });
});

describe("a device that is killed between a round and its write", () => {
  it("has the same groups after the restart, or none, 100 times of 100", () => {
    for (let seed = 0; seed < 100; seed++) {
      const random = randomStream(seed, "killed");
      const of = { ...study, minimum: 5 };
      const values = range(0, 40).map(() => 100 * random());
      const disk = { saved: undefined as Uint8Array | undefined, pending: undefined as Uint8Array | undefined };
      const started = () => {
        const memory = {
          saved: disk.saved,
          isLost: false,
          keep: (bytes: Uint8Array, done: (failure: string | undefined) => void) => {
            disk.pending = bytes;
            if (random() < 0.5) {
              disk.saved = bytes;
              done(undefined);
            }
          },
        };
        return new GuardedRows(of, { memory, onKept() {}, wallClock: () => DAY });
      };
      const first = started();
      first.take(rowsOf(values));
      first.publish(rowsOf([25, 75]));
      for (let tries = 0; !first.isKept() && tries < 100; tries++);
      if (!first.isKept()) disk.saved = disk.pending;
      values.push(...range(0, 30).map(() => 100 * random()));
      const killed = started();
      const before = disk.saved;
      const counted = killed.take(rowsOf(values));
      const isWritten = killed.isKept();
      const wanted = disk.pending;
      const again = started();
      expect(again.take(rowsOf(values)), `seed ${seed}`).toEqual(counted);
      again.isKept();
      expect(isWritten ? disk.saved : (disk.pending ?? before), `seed ${seed}`).toEqual(wanted);
    }
  });
});
