// An analyst's whole job on ten large files: fedkm fit against pandas and scikit-learn, what labels cost, and fedkm choose.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { progress } from "../measure.ts";
import { findPython, ONE_THREAD } from "../python.ts";
import { print } from "../table.ts";
import { writeRows } from "./rows.ts";

const FILES = 10;
const K = 8;
const COLS = 16;
const program = fileURLToPath(new URL("../../../cli/bin/fedkm.js", import.meta.url));

/** The peer reads the same files and makes at most as many iterations, from one start. */
const PEER = `
import sys, time
import numpy as np, pandas as pd
from sklearn.cluster import KMeans
k, rounds, *files = sys.argv[1:]
rows = np.vstack([pd.read_csv(file).to_numpy() for file in files])
read = time.process_time()
model = KMeans(int(k), n_init=1, max_iter=int(rounds), tol=0, algorithm="lloyd", random_state=0).fit(rows)
print(read, time.process_time() - read, model.n_iter_, model.inertia_)
`;

/** Gates: whole job at most 1.5 times the peer's CPU, labels at most a third of it, choose on two files 60 s. */
export function analyst(folder: string, rows: number): void {
  const files = Array.from({ length: FILES }, (_, i) => {
    progress(`writing ${rows} rows, file ${i + 1} of ${FILES}`);
    writeRows(join(folder, `place${i}.csv`), rows, COLS, 20 + i);
    return `place${i}.csv`;
  });
  const asked = [...files, "--k", String(K), "--threads", "1", "--json"];
  const whole = cpuOf(folder, "fit", ...asked);
  const unlabelled = cpuOf(folder, "fit", ...asked, "--no-labels");
  const { rounds, messages } = JSON.parse(whole.stdout);
  const chosen = cpuOf(folder, "choose", ...files.slice(0, 2), "--json");
  const peer = peerOf(folder, files, rounds);
  progress("");
  const held = (isHeld: boolean) => (isHeld ? "held" : "missed");
  print(`${FILES} files of ${rows} x ${COLS}, k = ${K}, CPU seconds on one thread`, [
    ["work", "fedkm", "pandas and scikit-learn", "ratio", "gate"],
    [
      `fit, ${rounds} rounds, ${messages} messages`,
      whole.seconds.toFixed(1),
      peer === undefined
        ? "not available"
        : `${(peer.read + peer.fit).toFixed(1)} (reading ${peer.read.toFixed(1)}, ${peer.iterations} iterations)`,
      peer === undefined ? "" : (whole.seconds / (peer.read + peer.fit)).toFixed(2),
      peer === undefined ? "" : `1.5 ${held(whole.seconds <= 1.5 * (peer.read + peer.fit))}`,
    ],
    [
      "labels, share of the whole",
      (whole.seconds - unlabelled.seconds).toFixed(1),
      "",
      ((whole.seconds - unlabelled.seconds) / whole.seconds).toFixed(2),
      `0.33 ${held(3 * (whole.seconds - unlabelled.seconds) <= whole.seconds)}`,
    ],
    [
      `choose on 2 files: k = ${JSON.parse(chosen.stdout).k}`,
      chosen.seconds.toFixed(1),
      "",
      "",
      `60 s ${held(chosen.seconds <= 60)}`,
    ],
  ]);
}

/** CPU of a command and its threads, as the shell has it. */
function cpuOf(cwd: string, ...args: string[]): { readonly seconds: number; readonly stdout: string } {
  progress(`fedkm ${args[0]}`);
  const { status, stdout } = spawnSync("sh", ["-c", '"$@"; times', "sh", process.execPath, program, ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  const lines = stdout.trimEnd().split("\n");
  if (status !== 0 || lines.length < 3) throw new Error(`fedkm ${args[0]} failed`);
  // The last two lines are the times of the shell and of what it ran, user and system each.
  const seconds = Array.from((lines.pop() ?? "").matchAll(/(\d+)m([\d.]+)s/g), ([, minutes, rest]) => {
    return 60 * Number(minutes) + Number(rest);
  }).reduce((sum, part) => sum + part, 0);
  lines.pop();
  return { seconds, stdout: lines.join("\n") };
}

function peerOf(cwd: string, files: readonly string[], rounds: number) {
  const { command } = findPython();
  progress("pandas and scikit-learn");
  const { status, stdout } = spawnSync(command, ["-c", PEER, String(K), String(rounds), ...files], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...ONE_THREAD },
  });
  if (status !== 0) return undefined;
  const [read, fit, iterations] = stdout.trim().split(" ").map(Number);
  return { read, fit, iterations };
}
