// What a whole run of Algorithm 1 costs, against the same algorithm in numpy and in plain arrays of arrays.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { erdosRenyi, fit, kmeans, type Matrix, paperData, randomStream, toRows } from "@fedkm/core";
import { cpuSeconds, print, progress, ratio } from "../../measure.ts";
import { ONE_THREAD, type Python, toInstall } from "../../python.ts";
import { straightforwardFit } from "./straightforward.ts";

const ROUNDS = 200;

/** The paper's largest setting: n = 10, m = 800, k = 3, d = 2, alpha = 1, 200 cyclic rounds. */
export function wholeRun(python: Python): void {
  progress("a whole run");
  const { datasets } = paperData("iso", 10, 800, 1);
  const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));
  const init = datasets.map((points) => kmeans(points, { k: 3, seed: 1 }).centroids);
  const options = { k: 3, alpha: 1, init, rounds: ROUNDS, preset: "paper" } as const;
  const ours = cpuSeconds(30, () => fit(datasets, network, options));
  const { centroids } = fit(datasets, network, options);

  const neighbours = network.neighbours.map((row) => Array.from(row));
  const [points, start] = [datasets.map(toRows), init.map(toRows)];
  let plain: number[][][] = [];
  const plainTime = cpuSeconds(1, () => {
    plain = straightforwardFit(points, neighbours, start, 1, ROUNDS);
  });
  const peer = numpy(python, { points, start, neighbours, alpha: 1, rounds: ROUNDS });
  const missing = toInstall(["numpy"], python)[0] ?? "not available";
  progress("");

  print("a whole run: n = 10, m = 800, k = 3, d = 2, alpha = 1, 200 cyclic rounds, one core", [
    ["program", "CPU ms", "ratio to ours", "largest difference", "gate", "reach"],
    ["fedkm", (1000 * ours).toFixed(1), "1", "", "15", "8"],
    ["arrays of arrays", (1000 * plainTime).toFixed(0), ratio(plainTime, ours), difference(plain, centroids), "", ""],
    peer === undefined
      ? ["numpy", missing, "", "", "", ""]
      : [
          ...["numpy", (1000 * peer.seconds).toFixed(0), ratio(peer.seconds, ours)],
          ...[difference(peer.centroids, centroids), "", ""],
        ],
  ]);
}

function numpy({ command }: Python, problem: object): { seconds: number; centroids: number[][][] } | undefined {
  const script = fileURLToPath(new URL("./algorithm1.py", import.meta.url));
  const env = { ...process.env, ...ONE_THREAD };
  const { status, stdout } = spawnSync(command, [script], { input: JSON.stringify(problem), env, maxBuffer: 1e8 });
  return status === 0 ? JSON.parse(stdout.toString()) : undefined;
}

function difference(theirs: number[][][], ours: readonly Matrix[]): string {
  const flat = ours.flatMap((own) => Array.from(own.data));
  return Math.max(...theirs.flat(2).map((x, i) => Math.abs(x - flat[i]))).toExponential(0);
}
