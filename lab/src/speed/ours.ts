// Our k-means as a program of the comparison: through the public function, one thread, preparation included.

import { writeFileSync } from "node:fs";
import { kmeans, type Matrix } from "@fedkm/core";
import { cpuSecondsWithin } from "../measure.ts";
import { type Answer, answerJobs, type Job } from "./programs.ts";
import { readNumbers } from "./workloads.ts";

await answerJobs(answer);

function answer({ m, d, k, jobs, cap, repeats, budget, points, labels }: Job): Answer {
  const data = readNumbers(points);
  const problems = Array.from({ length: jobs }, (_, job) => problemAt(data, job, m, d, k));
  const found = new Uint32Array(m * jobs);
  let iterations = 0;
  const seconds = cpuSecondsWithin(budget, repeats, () => {
    iterations = 0;
    for (let job = 0; job < jobs; job++) {
      const model = kmeans(problems[job].points, { k, init: problems[job].init, maxIter: cap, tol: 0 });
      found.set(model.labels, job * m);
      iterations += model.iterations;
    }
  });
  writeFileSync(labels, found);
  return { seconds, iterations };
}

function problemAt(data: Float64Array, job: number, m: number, d: number, k: number): { points: Matrix; init: Matrix } {
  const own = data.subarray(job * m * d, (job + 1) * m * d);
  return { points: { data: own, rows: m, cols: d }, init: { data: own.slice(0, k * d), rows: k, cols: d } };
}
