// The workloads A to F and their data: overlapping blobs, written once to a file that all programs read.

import { readFileSync, writeFileSync } from "node:fs";
import { normalStream, randomStream } from "@fedkm/core";

export interface Workload {
  readonly name: string;
  readonly m: number;
  readonly d: number;
  readonly k: number;
  readonly jobs: number;
  readonly cap: number;
  /** How many times as fast as scikit-learn float64 with AVX2: what is held, and what is reached for. */
  readonly gate: number;
  readonly reach: number;
  /** The same against FAISS. Without it FAISS does not take part: it has no convergence. */
  readonly faissGate?: number;
  /** Whether k-means in plain JavaScript gets there in reasonable time. */
  readonly isForJavaScript: boolean;
}

const WORKLOADS: readonly Workload[] = [
  { name: "A", m: 1e6, d: 2, k: 3, jobs: 1, cap: 20, gate: 3.7, reach: 5.6, faissGate: 10, isForJavaScript: true },
  { name: "B", m: 1e6, d: 16, k: 16, jobs: 1, cap: 20, gate: 2.8, reach: 3.6, faissGate: 3.3, isForJavaScript: true },
  {
    name: "C",
    m: 2e5,
    d: 64,
    k: 64,
    jobs: 1,
    cap: 20,
    gate: 2.6,
    reach: 2.8,
    faissGate: 1.67,
    isForJavaScript: false,
  },
  {
    name: "D",
    m: 1e5,
    d: 128,
    k: 256,
    jobs: 1,
    cap: 20,
    gate: 2,
    reach: 2.2,
    faissGate: 1.11,
    isForJavaScript: false,
  },
  { name: "D*", m: 1e5, d: 128, k: 256, jobs: 1, cap: 100, gate: 2.2, reach: 2.9, isForJavaScript: false },
  {
    name: "E",
    m: 7e4,
    d: 784,
    k: 10,
    jobs: 1,
    cap: 20,
    gate: 2.9,
    reach: 4.2,
    faissGate: 2.5,
    isForJavaScript: false,
  },
  {
    name: "F",
    m: 100,
    d: 2,
    k: 3,
    jobs: 1e4,
    cap: 20,
    gate: 83,
    reach: 250,
    faissGate: 50,
    isForJavaScript: true,
  },
];

/** All workloads; the quick ones have a tenth of the points or jobs. */
export function workloads(isQuick: boolean): readonly Workload[] {
  if (!isQuick) return WORKLOADS;
  return WORKLOADS.map((workload) =>
    workload.jobs > 1 ? { ...workload, jobs: workload.jobs / 10 } : { ...workload, m: workload.m / 10 },
  );
}

/** The first seed with which A to E need all of their 20 iterations, in both sizes: who stops early pays for his start. */
const SEED = 1;

/** Blobs whose centres are about 4 standard deviations apart, whatever the number of columns: labels stay in motion. */
export function blobs(rows: number, d: number, k: number): Float64Array {
  const random = randomStream(SEED, "bench", rows, d);
  const normal = normalStream(random);
  const centres = Float64Array.from({ length: k * d }, () => (4 * normal()) / Math.sqrt(2 * d));
  const data = new Float64Array(rows * d);
  for (let r = 0; r < rows; r++) {
    const from = Math.floor(k * random()) * d;
    for (let j = 0; j < d; j++) data[r * d + j] = centres[from + j] + normal();
  }
  return data;
}

export function writePoints(file: string, { m, d, k, jobs }: Workload): void {
  writeFileSync(file, blobs(m * jobs, d, k));
}

export function readNumbers(file: string): Float64Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = readFileSync(file);
  return new Float64Array(buffer, byteOffset, byteLength / 8);
}
