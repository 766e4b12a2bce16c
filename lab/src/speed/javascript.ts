// ml-kmeans and skmeans as programs of the comparison. Both want arrays of arrays; making those is not timed.

import { writeFileSync } from "node:fs";
import { kmeans as mlKMeans } from "ml-kmeans";
import skmeans from "skmeans";
import { cpuSecondsWithin } from "../measure.ts";
import { type Answer, answerJobs, type Job } from "./programs.ts";
import { readNumbers } from "./workloads.ts";

await answerJobs(answer);

interface Found {
  readonly labels: readonly number[];
  readonly iterations: number;
}

function answer({ program, m, d, k, jobs, cap, repeats, budget, points, labels }: Job): Answer {
  const run = program === "skmeans" ? bySkmeans : byMlKMeans;
  const data = readNumbers(points);
  const problems = Array.from({ length: jobs }, (_, job) =>
    Array.from({ length: m }, (_, r) => Array.from(data.subarray((job * m + r) * d, (job * m + r + 1) * d))),
  );
  const found = new Uint32Array(m * jobs);
  let iterations = 0;
  const seconds = cpuSecondsWithin(budget, repeats, () => {
    iterations = 0;
    problems.forEach((rows, job) => {
      const result = run(rows, k, cap);
      found.set(result.labels, job * m);
      iterations += result.iterations;
    });
  });
  writeFileSync(labels, found);
  return { seconds, iterations };
}

function byMlKMeans(rows: number[][], k: number, cap: number): Found {
  const options = { initialization: rows.slice(0, k), maxIterations: cap, tolerance: 0 };
  const { clusters, iterations } = mlKMeans(rows, k, options);
  return { labels: clusters, iterations };
}

function bySkmeans(rows: number[][], k: number, cap: number): Found {
  // A copy, because skmeans moves the centroids that it is given.
  const { idxs, it } = skmeans(rows, k, rows.slice(0, k), cap);
  return { labels: idxs, iterations: it };
}
