import { createHash } from "node:crypto";
import {
  communityData,
  type LabelledPoints,
  matrix,
  type Partition,
  paperData,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
  stack,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

const bytes = ({ datasets, labels }: Partition) => {
  const hash = createHash("sha256");
  for (const { data } of datasets) hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  for (const own of labels) hash.update(new Uint8Array(own.buffer, own.byteOffset, own.byteLength));
  return hash.digest("hex").slice(0, 16);
};

/** Mean and covariance of the points of one label. */
function moments({ datasets, labels }: Partition, label: number) {
  const rows = datasets.flatMap((points, i) => toRows(points).filter((_, r) => labels[i][r] === label));
  const mean = [0, 1].map((c) => rows.reduce((sum, row) => sum + row[c], 0) / rows.length);
  const covariance = [0, 1].map((a) =>
    [0, 1].map((b) => rows.reduce((sum, row) => sum + (row[a] - mean[a]) * (row[b] - mean[b]), 0) / rows.length),
  );
  return { count: rows.length, mean, covariance };
}

const drawn: LabelledPoints = {
  points: matrix(Array.from({ length: 90 }, (_, r) => [r])),
  labels: Uint32Array.from({ length: 90 }, (_, r) => r % 3),
};
const sortedPoints = ({ datasets }: Partition) => Array.from(stack(datasets).data).sort((a, b) => a - b);

describe("paperData(kind, devices, pointsPerDevice, seed)", () => {
  it("gives these bytes on every platform", () => {
    expect(bytes(paperData("iso", 10, 100, 1))).toBe("de85b6426c76db24");
    expect(bytes(paperData("var", 10, 100, 1))).toBe("11b79bf382611317");
    expect(bytes(paperData("aniso", 10, 100, 1))).toBe("846039cc3f3c2bba");
    expect(bytes(communityData(5, 50, 1))).toBe("30c55ea9e4a3fc34");
    expect(bytes(splitByLabel(drawn, 4, 0.2, 1))).toBe("8b265e2470f2e0fa");
  });

  it("deals equal clusters evenly to the devices", () => {
    const data = paperData("iso", 10, 60, 2);
    expect(data.datasets.map(({ rows }) => rows)).toEqual(Array(10).fill(60));
    expect([0, 1, 2].map((label) => moments(data, label).count)).toEqual([200, 200, 200]);
    for (const own of data.labels) expect(new Set(own).size).toBe(3);
  });

  it("has the spreads of the paper, and centres at least 5 apart", () => {
    const spreads = { iso: [1, 1, 1], var: [1, 2.5, 0.5] };
    for (const kind of ["iso", "var"] as const) {
      const data = paperData(kind, 10, 3000, 3);
      const found = [0, 1, 2].map((label) => moments(data, label));
      found.forEach(({ covariance, mean }, label) => {
        expect(Math.sqrt(covariance[0][0]) / spreads[kind][label]).toBeCloseTo(1, 1);
        expect(Math.sqrt(covariance[1][1]) / spreads[kind][label]).toBeCloseTo(1, 1);
        expect(Math.max(...mean.map(Math.abs))).toBeLessThan(10.2);
        found.slice(0, label).forEach((other) => {
          expect(Math.hypot(mean[0] - other.mean[0], mean[1] - other.mean[1])).toBeGreaterThan(4.8);
        });
      });
    }
  });

  it("shears aniso by the paper's matrix, points as rows", () => {
    // Covariance of x A with A = [[0.6, -0.6], [-0.4, 0.8]] is A'A.
    const { covariance } = moments(paperData("aniso", 10, 3000, 3), 0);
    expect(covariance[0][0]).toBeCloseTo(0.52, 1);
    expect(covariance[0][1]).toBeCloseTo(-0.68, 1);
    expect(covariance[1][1]).toBeCloseTo(1.0, 1);
  });
});

describe("communityData(devicesEach, pointsPerDevice, seed)", () => {
  it("moves the second community's centres by 15 in every coordinate", () => {
    const data = communityData(5, 900, 4);
    expect(data.datasets.length).toBe(10);
    for (const label of [0, 1, 2]) {
      const [first, second] = [moments(data, label), moments(data, label + 3)];
      expect(second.mean[0] - first.mean[0]).toBeCloseTo(15, 0);
      expect(second.mean[1] - first.mean[1]).toBeCloseTo(15, 0);
    }
    expect(data.labels.slice(0, 5).every((own) => own.every((label) => label < 3))).toBe(true);
    expect(data.labels.slice(5).every((own) => own.every((label) => label >= 3))).toBe(true);
  });
});

describe("ways to deal points", () => {
  it("every point goes to one device, with its label", () => {
    for (const split of [
      splitEvenly(drawn, 7, 1),
      splitBySizes(drawn, [0, 1, 89], 1),
      splitByLabel(drawn, 6, 0.3, 1),
      splitByClasses(drawn, 5, 2, 1),
    ]) {
      expect(sortedPoints(split)).toEqual(Array.from(drawn.points.data));
      split.datasets.forEach((points, i) => {
        points.data.forEach((x, r) => {
          expect(split.labels[i][r]).toBe(x % 3);
        });
      });
    }
  });

  it("splitEvenly deals sizes that differ by at most one", () => {
    expect(splitEvenly(drawn, 7, 1).datasets.map(({ rows }) => rows)).toEqual([13, 13, 13, 13, 13, 13, 12]);
  });

  it("splitBySizes deals the sizes it is given", () => {
    expect(splitBySizes(drawn, [5, 0, 85], 1).datasets.map(({ rows }) => rows)).toEqual([5, 0, 85]);
  });

  it("splitByClasses gives every device so many clusters, and every cluster evenly to those that hold it", () => {
    const { datasets, labels } = splitByClasses(drawn, 6, 2, 1);
    for (const own of labels) expect(new Set(own).size).toBe(2);
    // Three clusters of 30 points, each on four of the six devices: 7 or 8 points there.
    for (const { rows } of datasets) expect(rows).toBeGreaterThanOrEqual(14);
    for (const { rows } of datasets) expect(rows).toBeLessThanOrEqual(16);
  });

  it("splitByClasses refuses to leave a cluster without a device, or more clusters than there are", () => {
    expect(() => splitByClasses(drawn, 2, 1, 1)).toThrow(/^classes must be an integer from 2 to 3/);
    expect(() => splitByClasses(drawn, 2, 4, 1)).toThrow(/^classes must be an integer from 2 to 3/);
  });

  it("splitByLabel skews more the smaller the concentration", () => {
    const largestShare = (concentration: number) => {
      let sum = 0;
      for (let seed = 0; seed < 100; seed++) {
        const { labels } = splitByLabel(drawn, 5, concentration, seed);
        sum += Math.max(...labels.map((own) => own.filter((label) => label === 0).length)) / 30;
      }
      return sum / 100;
    };
    const [skewed, mild, even] = [0.05, 1, 1000].map(largestShare);
    expect(skewed).toBeGreaterThan(0.8);
    expect(mild).toBeGreaterThan(even);
    expect(even).toBeLessThan(0.3);
  });
});
