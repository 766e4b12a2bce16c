// Signature classes and guarded points: no history of publications isolates fewer rows than the minimum.

import { describe, expect, it } from "vitest";
import { type Random, randomStream } from "../../src/data/random.ts";
import { jsKernel } from "../../src/kernel/js.ts";
import { emptyStatistics } from "../../src/kernel/kernel.ts";
import {
  type Classes,
  leaveOutSmallParts,
  mergeSmallParts,
  oneClass,
  smallestClass,
  splitClasses,
} from "../../src/privacy/classes.ts";
import { guardPoints, roundGuardedMoves } from "../../src/privacy/guarded.ts";

const below = (random: Random, n: number) => Math.floor(random() * n);

/** Labels that drift: most rows stay, some move. */
function drifted(labels: Uint32Array, k: number, share: number, random: Random): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(labels, (label) => (random() < share ? below(random, k) : label));
}

/** The rows of a reduced basis of the span of these membership vectors, by elimination. */
function reduced(vectors: readonly Float64Array[]): Float64Array[] {
  const rows = vectors.map((vector) => vector.slice());
  const basis: Float64Array[] = [];
  const width = rows[0]?.length ?? 0;
  for (let column = 0; column < width && rows.length > 0; column++) {
    const at = rows.reduce((best, row, i) => (Math.abs(row[column]) > Math.abs(rows[best][column]) ? i : best), 0);
    if (Math.abs(rows[at][column]) < 1e-9) continue;
    const [pivot] = rows.splice(at, 1);
    const scale = pivot[column];
    for (let i = 0; i < width; i++) pivot[i] /= scale;
    for (const other of [...rows, ...basis]) {
      const share = other[column];
      if (share !== 0) for (let i = 0; i < width; i++) other[i] -= share * pivot[i];
    }
    basis.push(pivot);
  }
  return basis;
}

/** How many rows are recovered: unit vectors in the span. In a reduced basis such a vector is a member by itself. */
function recovered(vectors: readonly Float64Array[]): number {
  return reduced(vectors).filter((row) => row.filter((x) => Math.abs(x) > 1e-7).length === 1).length;
}

const memberships = (labels: Uint32Array, k: number) =>
  Array.from({ length: k }, (_, c) => Float64Array.from(labels, (label) => (label === c ? 1 : 0)));

describe("mergeSmallParts", () => {
  const classesOf = (...ids: number[]): Classes => ({
    ids: Uint32Array.from(ids),
    sizes: Uint32Array.from({ length: Math.max(...ids) + 1 }, (_, id) => ids.filter((own) => own === id).length),
  });

  it("gives the label of most rows of a class to fewer rows than the minimum, the lowest among equals", () => {
    const labels = Uint32Array.of(1, 1, 1, 0, 2, 2, 2, 1, 1);
    expect(mergeSmallParts(classesOf(0, 0, 0, 0, 0, 1, 1, 1, 1), labels, 3, 2)).toBe(2);
    expect(Array.from(labels)).toEqual([1, 1, 1, 1, 1, 2, 2, 1, 1]);
    const few = Uint32Array.of(2, 2, 1, 1, 0);
    expect(mergeSmallParts(oneClass(5), few, 3, 3)).toBe(3);
    expect(Array.from(few)).toEqual([1, 1, 1, 1, 1]);
  });

  it("leaves labels alone where enough rows have each", () => {
    const labels = Uint32Array.of(0, 0, 1, 1);
    expect(mergeSmallParts(oneClass(4), labels, 2, 2)).toBe(0);
    expect(Array.from(labels)).toEqual([0, 0, 1, 1]);
  });
});

describe("splitClasses", () => {
  it("returns the same classes where labels tell nobody apart", () => {
    const classes = oneClass(3);
    expect(splitClasses(classes, Uint32Array.of(1, 1, 1), 2)).toBe(classes);
    expect(splitClasses(classes, Uint32Array.of(1, 0, 1), 2)).toEqual({
      ids: Uint32Array.of(1, 0, 1),
      sizes: Uint32Array.of(1, 2),
    });
  });
});

/** Publishes labels that drift; where rows come and go, a row that is away has a label of its own. */
function history(random: Random, isGuarded: boolean) {
  const minimum = 2 + below(random, 5);
  const k = 2 + below(random, 3);
  const rows = k * minimum + below(random, 30);
  const away = k;
  let classes = oneClass(rows);
  let wanted = Uint32Array.from({ length: rows }, () => below(random, k));
  let there = new Uint32Array(rows);
  const published: Float64Array[] = [];
  let smallest = rows;
  for (let step = 0; step < 6; step++) {
    wanted = drifted(wanted, k, 0.05, random);
    there = drifted(there, 2, 0.1, random);
    const labels = wanted.map((label, r) => (there[r] === 0 ? label : away));
    if (isGuarded) mergeSmallParts(classes, labels, k + 1, minimum);
    classes = splitClasses(classes, labels, k + 1);
    published.push(...memberships(labels, k));
    smallest = Math.min(smallest, smallestClass(classes));
  }
  return { minimum, smallest, published };
}

describe("what is published, with rows added and deleted", () => {
  it("keeps classes of at least the minimum, and no row can be computed from it, in 500 histories", () => {
    for (let seed = 0; seed < 500; seed++) {
      const { minimum, smallest, published } = history(randomStream(seed, "history"), true);
      expect(smallest, `seed ${seed}`).toBeGreaterThanOrEqual(minimum);
      expect(recovered(published), `seed ${seed}`).toBe(0);
    }
  });

  it("gives rows away without the guard, so the attack works", () => {
    const attacked = Array.from({ length: 50 }, (_, seed) => history(randomStream(seed, "history"), false));
    expect(attacked.filter(({ published }) => recovered(published) > 0).length).toBeGreaterThan(45);
  });
});

describe("guardPoints", () => {
  const random = randomStream(5, "points");
  const points = { data: Float64Array.from({ length: 120 }, () => 10 * random()), rows: 60, cols: 2 };
  const labelled = () => guardPoints(points, jsKernel.prepare(points), 8);
  /** The labels of whole classes at the centroids where they were told apart. */
  const labelsIn = ({ ids }: Classes, centroids: Float64Array) => {
    const nearest = new Uint32Array(60);
    jsKernel.prepare(points).labels(centroids, nearest);
    return Uint32Array.from(ids, (id) => nearest[ids.indexOf(id)]);
  };

  it("answers as other points do while no row is held back, to the last bit", () => {
    const exact = jsKernel.prepare(points);
    const centroids = Float64Array.of(2, 5, 8, 5);
    const [own, other] = [emptyStatistics(2, 2), emptyStatistics(2, 2)];
    labelled().statistics(centroids, own);
    exact.statistics(centroids, other);
    expect(own).toEqual(other);
  });

  it("answers with the sums, counts and loss of the labels that it holds back, not of the nearest centroids", () => {
    const guarded = labelled();
    expect(guarded.publish(Float64Array.of(2, 5, 8, 5))).toBe(true);
    const centroids = Float64Array.of(2.4, 5.2, 8, 5);
    const found = emptyStatistics(2, 2);
    guarded.statistics(centroids, found);
    const labels = new Uint32Array(60);
    guarded.labels(centroids, labels);
    const published = labelsIn(guarded.classes, Float64Array.of(2, 5, 8, 5));
    const held = labels.filter((label, r) => label !== published[r]).length;
    expect(held).toBeGreaterThan(0);
    const expected = emptyStatistics(2, 2);
    published.forEach((label, r) => {
      expected.counts[label]++;
      for (let c = 0; c < 2; c++) {
        const x = points.data[2 * r + c];
        expected.sums[2 * label + c] += x;
        expected.loss += (x - centroids[2 * label + c]) ** 2;
      }
    });
    expect(found.counts).toEqual(expected.counts);
    expected.sums.forEach((sum, i) => {
      expect(found.sums[i]).toBeCloseTo(sum, 9);
    });
    expect(found.loss).toBeCloseTo(expected.loss, 9);
    // Asking changes nothing, publishing what is held back splits nothing.
    expect(guarded.heldBack).toBe(0);
    expect(guarded.publish(centroids)).toBe(false);
    expect(guarded.heldBack).toBe(held);
  });

  it("publishes cores of at least the minimum, and leaves all other rows in one class", () => {
    const guarded = labelled();
    const { counts, sums } = guarded.publishCores(Float64Array.of(2, 5, 8, 5));
    expect(Array.from(counts)).toEqual([8, 8]);
    expect(Math.abs(sums[0] / 8 - 2)).toBeLessThan(1);
    expect(Array.from(guarded.classes.sizes).sort((a, b) => a - b)).toEqual([8, 8, 44]);
  });
});

it("roundGuardedMoves goes whole steps, and never further than was meant", () => {
  const after = Float64Array.of(1.99, -1.99, 0.3);
  roundGuardedMoves(Float64Array.of(0, 0, 0), Float64Array.of(1), after);
  expect(Array.from(after, (x) => x + 0)).toEqual([1, -1, 0]);
});

describe("a neighbour that moves a border to and fro", () => {
  const random = randomStream(7, "border");
  const points = { data: Float64Array.from({ length: 60 }, () => 10 * random()), rows: 30, cols: 2 };
  const exact = jsKernel.prepare(points);
  const first = Float64Array.of(3, 5, 7.2, 5);
  const guarded = guardPoints(points, exact, 10);
  guarded.publish(first);
  const { ids, sizes } = guarded.classes;

  /** Whether the first class counts for the first centroid, as the sizes of the clusters show it. */
  type Seen = (centroids: Float64Array) => boolean;
  const shown: Seen = (centroids) => {
    const found = emptyStatistics(2, 2);
    guarded.statistics(centroids, found);
    return found.counts[0] === sizes[0] || found.counts[0] === 30;
  };
  const byMost: Seen = (centroids) => {
    const labels = new Uint32Array(30);
    exact.labels(centroids, labels);
    mergeSmallParts(guarded.classes, labels, 2, 10);
    return labels[ids.indexOf(0)] === 0;
  };

  /** Where a border of this direction stands when the class changes its side. */
  function borderOf(seen: Seen, angle: number): number {
    const at = (b: number) =>
      Float64Array.from([b - 1, b - 1, b + 1, b + 1], (x, i) => x * (i % 2 === 0 ? Math.cos(angle) : Math.sin(angle)));
    let [low, high] = [-30, 30];
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (seen(at(middle))) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Rows at which two borders of nearly the same direction cross. */
  function rowsFound(seen: Seen): number {
    const found = new Set<number>();
    for (let angle = 0.01; angle < Math.PI; angle += 0.05) {
      const [a, b] = [angle, angle + 1e-4];
      const [p, q] = [borderOf(seen, a), borderOf(seen, b)];
      const x = (p * Math.sin(b) - q * Math.sin(a)) / Math.sin(b - a);
      const y = (q * Math.cos(a) - p * Math.cos(b)) / Math.sin(b - a);
      for (let r = 0; r < 30; r++) {
        if (Math.hypot(points.data[2 * r] - x, points.data[2 * r + 1] - y) < 1e-6) found.add(r);
      }
    }
    return found.size;
  }

  it("finds rows of a class that follows most of its rows, and none of one that follows its mean", () => {
    expect(Array.from(sizes, (size) => size < 20)).toEqual([true, true]);
    expect(rowsFound(byMost)).toBeGreaterThan(3);
    expect(rowsFound(shown)).toBe(0);
  });

  it("finds none where rows may be left out: a class comes to count once, and follows its mean from then on", () => {
    const leaving = guardPoints(points, exact, 10, {
      classes: { ...guarded.classes, left: Uint8Array.of(1, 0) },
      mayLeaveOut: true,
    });
    let changes = 0;
    let before = 0;
    const seen: Seen = (centroids) => {
      const found = emptyStatistics(2, 2);
      leaving.publish(centroids);
      leaving.statistics(centroids, found);
      const counted = found.counts[0] + found.counts[1];
      if (counted !== before) changes++;
      before = counted;
      return found.counts[0] === sizes[0] || found.counts[0] === 30;
    };
    expect(rowsFound(seen)).toBe(0);
    // From nothing to the class that counts, and then to both.
    expect(changes).toBeLessThanOrEqual(2);
  });
});

describe("leaveOutSmallParts", () => {
  const whole = Uint32Array.of(0);
  const held = (classes: Classes, ...labels: number[]) => {
    const own = Uint32Array.from(labels);
    const many = leaveOutSmallParts(classes, own, 3, 2, whole);
    return { many, labels: Array.from(own) };
  };

  it("leaves out small parts of a class that is divided if they are enough together, and else holds them back", () => {
    expect(held(oneClass(6), 0, 0, 0, 0, 1, 2)).toEqual({ many: 2, labels: [0, 0, 0, 0, 3, 3] });
    expect(held(oneClass(5), 0, 0, 1, 1, 2)).toEqual({ many: 1, labels: [0, 0, 1, 1, 0] });
    expect(held(oneClass(3), 1, 1, 2)).toEqual({ many: 3, labels: [0, 0, 0] });
  });

  it("leaves out rows of larger parts with small parts that are too few to hide in", () => {
    const { many, labels } = held(oneClass(7), 0, 0, 0, 0, 1, 1, 2);
    expect(many).toBe(2);
    expect(labels.slice(4)).toEqual([1, 1, 3]);
    expect(labels.slice(0, 4).sort()).toEqual([0, 0, 0, 3]);
    // Beside one larger part, where they are as many as those.
    const beside = held(oneClass(4), 1, 1, 1, 2);
    expect({ many: beside.many, labels: beside.labels.sort() }).toEqual({ many: 2, labels: [1, 1, 3, 3] });
  });

  it("keeps a class out that was left out, until enough of it have one label", () => {
    const left = { ...oneClass(4), left: Uint8Array.of(1) };
    expect(held({ ...oneClass(2), left: Uint8Array.of(1) }, 1, 2).labels).toEqual([3, 3]);
    expect(held(left, 1, 1, 0, 2).labels).toEqual([1, 1, 3, 3]);
    expect(held({ ...oneClass(3), left: Uint8Array.of(1) }, 1, 1, 2).labels).toEqual([0, 0, 0]);
    // A class that counts stays, by its mean.
    expect(held(oneClass(2), 1, 2).labels).toEqual([0, 0]);
  });
});

describe("guardPoints(points, prepared, minimum, { mayLeaveOut: true })", () => {
  it("does not count nine rows of a third cluster in the largest, where ten are the minimum", () => {
    const random = randomStream(1, "nine rows");
    const centres = [...Array<number>(30).fill(0), ...Array<number>(21).fill(10), ...Array<number>(9).fill(100)];
    const points = { data: Float64Array.from(centres, (centre) => centre + random() - 0.5), rows: 60, cols: 1 };
    const guard = guardPoints(points, jsKernel.prepare(points), 10, { mayLeaveOut: true });
    const centroids = Float64Array.of(0, 10, 100);
    guard.publish(centroids);
    const { counts, sums } = emptyStatistics(3, 1);
    guard.statistics(centroids, { counts, sums, loss: 0 });
    expect(guard.heldBack).toBe(10);
    expect(counts[0] + counts[1]).toBe(50);
    expect(counts[2]).toBe(0);
    expect(Math.abs(sums[0] / counts[0])).toBeLessThan(0.5);
    expect(Math.abs(sums[1] / counts[1] - 10)).toBeLessThan(0.5);
    expect(smallestClass(guard.classes)).toBe(10);
  });

  it("tells apart no fewer rows than the minimum in 200 histories, and sums are those of whole classes", () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = randomStream(seed, "left out");
      const [rows, k, minimum] = [40 + below(random, 60), 2 + below(random, 6), 2 + below(random, 9)];
      const points = { data: Float64Array.from({ length: 2 * rows }, random), rows, cols: 2 };
      const guard = guardPoints(points, jsKernel.prepare(points), minimum, { mayLeaveOut: true });
      const centroids = Float64Array.from({ length: 2 * k }, random);
      for (let n = 0; n < 12; n++) {
        const statistics = emptyStatistics(k, 2);
        guard.publish(centroids);
        guard.statistics(centroids, statistics);
        expect(smallestClass(guard.classes)).toBeGreaterThanOrEqual(Math.min(rows, minimum));
        // Every cluster is a union of classes that are not left out: its count is one of their sizes added up.
        const { ids, sizes, left } = guard.classes;
        const counted = sizes.reduce((sum, size, id) => sum + (left?.[id] === 1 ? 0 : size), 0);
        expect(statistics.counts.reduce((sum, count) => sum + count, 0)).toBe(counted);
        const means = Array.from(sizes, () => [0, 0]);
        ids.forEach((id, r) => {
          means[id][0] += points.data[2 * r];
          means[id][1] += points.data[2 * r + 1];
        });
        const all = means.reduce((sum, [x], id) => sum + (left?.[id] === 1 ? 0 : x), 0);
        expect(statistics.sums.filter((_, i) => i % 2 === 0).reduce((sum, x) => sum + x, 0)).toBeCloseTo(all, 9);
        for (let i = 0; i < centroids.length; i++) centroids[i] += 0.1 * (random() - 0.5);
      }
    }
  });
});
