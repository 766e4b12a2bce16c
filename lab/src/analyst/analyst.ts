// npm run lab -- analyst [--quick]: an analyst's whole job on ten large files: fedkm fit against pandas and scikit-learn, what
// labels cost as CSV and as Parquet, and fedkm choose.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { labelFile } from "@fedkm/files";
import { runFedkm } from "../fedkm.ts";
import { print, progress, scratchFolder } from "../measure.ts";
import { findPython, ONE_THREAD } from "../python.ts";
import { writeRows } from "../readers/readers.ts";

const [FILES, K, COLS] = [10, 8, 16];
/** So many rounds of ours, and as many iterations of the peer. */
const ROUNDS = 30;
/** Centres that overlap: both sides are still at work after these rounds. */
const SPACING = 1;

/** The peer reads the same files and makes as many iterations over all rows, from one start by k-means++. */
const PEER = `
import sys, time
import numpy as np, pandas as pd
from sklearn.cluster import KMeans
k, iterations, *files = sys.argv[1:]
rows = np.vstack([pd.read_csv(file).to_numpy() for file in files])
read = time.process_time()
model = KMeans(int(k), n_init=1, max_iter=int(iterations), tol=0, algorithm="lloyd", random_state=0).fit(rows)
print(read, time.process_time() - read, model.n_iter_)
`;

const held = (isHeld: boolean) => (isHeld ? "held" : "missed");

/**
 * Gates: the whole job, with its start, report and labels, at most 1.5 times the peer's CPU; labels at most a third of it;
 * the same bits by all threads; choose on two files 60 s. Of fewer rows (--quick), what does not grow with them is a larger part.
 */
function job(folder: string, rows: number, files: readonly string[]): void {
  const cpuOf = (...args: string[]) => runFedkm(folder, ...args);
  const asked = [...files, "--k", String(K), "--rounds", String(ROUNDS), "--json"];
  const whole = cpuOf("fit", ...asked, "--threads", "1");
  const unlabelled = cpuOf("fit", ...asked, "--threads", "1", "--labels-as", "none", "--out", "alone");
  const threaded = cpuOf("fit", ...asked, "--labels-as", "none", "--out", "threaded");
  const model = (out: string) => readFileSync(join(folder, out, "model.json"), "utf8");
  const chosen = cpuOf("choose", ...files.slice(0, 2), "--json");
  const peer = peerOf(folder, files);
  progress("");
  const { rounds } = JSON.parse(whole.stdout);
  const { k, sampled } = JSON.parse(chosen.stdout);
  const labels = whole.seconds - unlabelled.seconds;
  const seconds = (of: number) => of.toFixed(1);
  const theirs = peer && peer.read + peer.fit;
  const isAlike = rounds === ROUNDS && peer?.iterations === ROUNDS;
  print(`${FILES} files of ${rows} x ${COLS}, k = ${K}, CPU seconds`, [
    ["work", "fedkm", "pandas and scikit-learn", "ratio", "gate"],
    [
      `fit, ${rounds} rounds`,
      seconds(whole.seconds),
      peer === undefined
        ? "not available"
        : `${seconds(peer.read + peer.fit)} (reading ${seconds(peer.read)}, ${peer.iterations} iterations)`,
      theirs === undefined ? "" : (whole.seconds / theirs).toFixed(2),
      theirs === undefined ? "" : isAlike ? `1.5 ${held(whole.seconds <= 1.5 * theirs)}` : "not as many iterations",
    ],
    [
      "of that, labels",
      seconds(labels),
      "",
      (labels / whole.seconds).toFixed(2),
      `0.33 ${held(3 * labels <= whole.seconds)}`,
    ],
    [
      `without labels, ${availableParallelism()} threads`,
      seconds(threaded.seconds),
      "",
      "",
      `same bits ${held(model("alone") === model("threaded"))}`,
    ],
    [
      `choose on 2 files: k = ${k}, from ${sampled?.rows ?? "all"} rows`,
      seconds(chosen.seconds),
      "",
      "",
      `60 s ${held(chosen.seconds <= 60)}`,
    ],
  ]);
}

/** The same labels behind the same rows. */
async function formats(csv: string, rows: number): Promise<void> {
  const parquet = `${csv}.parquet`;
  const { writeFile } = await import("node:fs/promises");
  const pieces: Uint8Array[] = [];
  await labelFile(
    csv,
    () => 0,
    async (piece) => void pieces.push(piece),
    { as: "parquet" },
  );
  await writeFile(parquet, pieces);
  const seconds = async (file: string) => {
    let best = Number.POSITIVE_INFINITY;
    for (let t = 0; t < 3; t++) {
      const before = process.cpuUsage();
      await labelFile(
        file,
        (row) => row % K,
        async () => {},
      );
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, (user + system) / 1e6);
    }
    return best;
  };
  const [text, binary] = [await seconds(csv), await seconds(parquet)];
  print(`labels of ${rows} x ${COLS}, CPU seconds, best of 3`, [
    ["CSV", "Parquet", "ratio", "gate 1"],
    [text.toFixed(2), binary.toFixed(2), (binary / text).toFixed(2), held(binary <= text)],
  ]);
}

function peerOf(folder: string, files: readonly string[]) {
  const { command } = findPython();
  progress("pandas and scikit-learn");
  const { status, stdout } = spawnSync(command, ["-c", PEER, String(K), String(ROUNDS), ...files], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...ONE_THREAD },
  });
  if (status !== 0) return undefined;
  const [read, fit, iterations] = stdout.trim().split(" ").map(Number);
  return { read, fit, iterations };
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { quick: { type: "boolean", default: false } } });
  const rows = values.quick ? 100_000 : 1_000_000;
  const folder = scratchFolder("analyst");
  const files = Array.from({ length: FILES }, (_, i) => {
    progress(`writing ${rows} rows, file ${i + 1} of ${FILES}`);
    writeRows(join(folder, `device${i}.csv`), rows, COLS, 20 + i, SPACING);
    return `device${i}.csv`;
  });
  job(folder, rows, files);
  await formats(join(folder, files[0]), rows);
}
