// MNIST, 70,000 pictures of 784 pixels, on ten simulated devices with shared private clusters: cost, seconds and bytes.

import { complete, distortion, kmeans, type Matrix } from "@fedkm/core";
import { contractOf, parseStudy, simulate } from "@fedkm/device";
import { isHeld, middleOf, print, progress } from "../measure.ts";
import { mnistPictures } from "../mnist.ts";

const CLUSTERS = 10;
const DEVICES = 10;
/** Of simulated time. */
const WITHIN_MILLISECONDS = 600_000;

/** Epsilon, how many seeds, and the bars of their median and of the worst. */
const BARS = [
  [1, 10, 1.02, 1.05],
  [0.1, 3, 1.09, 1.12],
] as const;

export async function mnist(isShort: boolean): Promise<boolean> {
  const rows = mnistPictures();
  if (rows === undefined) return true;
  progress("MNIST without noise");
  const best = distortion([rows], [kmeans(rows, { k: CLUSTERS, restarts: 3 }).centroids]);
  const table = [
    ["epsilon", "seeds", "cost (worst)", "bars", "CPU seconds of all", "MB sent by a device", "one answer"],
  ];
  const missed: string[] = [];
  for (const [epsilon, seeds, most, worst] of BARS) {
    if (isShort && epsilon !== 1) continue;
    const found: Answer[] = [];
    for (let seed = 1; seed <= (isShort ? 1 : seeds); seed++) {
      progress(`MNIST, epsilon ${epsilon}, seed ${seed}`);
      found.push(await answerOf(rows, epsilon, seed));
    }
    const ratios = found.map(({ cost }) => cost / best);
    const [own, largest] = [middleOf(ratios), Math.max(...ratios)];
    const isOne = found.every(({ isSame }) => isSame);
    table.push([
      String(epsilon),
      String(found.length),
      `${own.toFixed(3)} (${largest.toFixed(3)})`,
      `${most} (${worst})`,
      middleOf(found.map(({ seconds }) => seconds)).toFixed(0),
      (middleOf(found.map(({ bytes }) => bytes)) / DEVICES / 1e6).toFixed(1),
      isOne ? "yes" : "no",
    ]);
    if (own > most || largest > worst || !isOne) missed.push(`epsilon ${epsilon}`);
  }
  progress("");
  print(`MNIST, ${rows.rows} x ${rows.cols}, k ${CLUSTERS}, ${DEVICES} devices: cost over that of k-means`, table);
  return isHeld("cost, and the same answer on all devices", missed);
}

interface Answer {
  readonly cost: number;
  readonly seconds: number;
  readonly bytes: number;
  /** To the last bit, on all devices. */
  readonly isSame: boolean;
}

async function answerOf(rows: Matrix, epsilon: number, seed: number): Promise<Answer> {
  const many = rows.rows / DEVICES;
  const features = Array.from({ length: rows.cols }, (_, f) => ({
    name: `p${f}`,
    unit: "",
    min: 0,
    max: 255,
    scale: 1,
  }));
  const sizes = { k: CLUSTERS, devices: DEVICES, typicalRows: many, epsilon };
  const text = JSON.stringify({ name: "mnist", clusters: "shared", privacy: "private", features, ...sizes });
  const study = parseStudy(text);
  const datasets = Array.from({ length: DEVICES }, (_, device) => {
    const data = rows.data.subarray(device * many * rows.cols, (device + 1) * many * rows.cols);
    return { data, rows: many, cols: rows.cols };
  });
  const before = process.cpuUsage();
  const network = simulate({ study, contract: await contractOf(study), datasets, graph: complete(DEVICES), seed });
  const isSettled = network.settle(WITHIN_MILLISECONDS);
  const { user, system } = process.cpuUsage(before);
  const [first, ...others] = network.centroids();
  return {
    cost: distortion([rows], [first]),
    seconds: (user + system) / 1e6,
    bytes: network.bytes,
    isSame: isSettled && others.every(({ data }) => data.every((x, i) => x === first.data[i])),
  };
}
