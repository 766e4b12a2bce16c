// Our k-means against its peers on the same data from the same start, as ratios of CPU time; and by several threads.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { kmeans, type Matrix } from "@fedkm/core";
import { startThreads, type ThreadedKernel } from "@fedkm/core/threads";
import { print, progress, ratio } from "../measure.ts";
import { ONE_THREAD, type Python, toInstall } from "../python.ts";
import { type Answer, type Job, type Program, startNode, startProgram } from "./programs.ts";
import { readNumbers, type Workload, workloads, writePoints } from "./workloads.ts";

// Python with each set of OpenBLAS kernels that this processor can run, so that the fastest peer can be told.

interface Blas {
  readonly name: string;
  readonly program: Program;
}

/**
 * An OpenBLAS older than the processor does not know it and falls back to SSE3, at half the speed; one that knows it
 * takes one of the others, so they are asked for by name.
 */
function coreTypes(): { name: string; settings: NodeJS.ProcessEnv }[] {
  const flags = existsSync("/proc/cpuinfo") ? readFileSync("/proc/cpuinfo", "utf8") : "";
  const known = [
    { flag: /\bavx2\b/, name: "AVX2", type: "Haswell" },
    { flag: /\bavx512vl\b/, name: "AVX-512", type: "SkylakeX" },
  ].filter(({ flag }) => flag.test(flags));
  const named = known.map(({ name, type }) => ({ name, settings: { OPENBLAS_CORETYPE: type } }));
  return [{ name: "as installed", settings: {} }, ...named];
}

/** None without scikit-learn and FAISS; only one if it has to be quick, the oldest that is asked for by name. */
function startBlas({ command, modules }: Python, isQuick: boolean): Blas[] {
  if (!modules.has("sklearn") && !modules.has("faiss")) return [];
  const script = fileURLToPath(new URL("../../src/speed/lloyd.py", import.meta.url));
  const types = isQuick ? coreTypes().slice(0, 2).slice(-1) : coreTypes();
  return types.map(({ name, settings }) => ({
    name,
    program: startProgram(command, [script], { ...ONE_THREAD, ...settings }),
  }));
}

function stopBlas(blas: readonly Blas[]): void {
  for (const { program } of blas) program.stop();
}

type Peer = Exclude<Job["program"], "ours">;
type Answers = { [program in Peer]?: Answer | undefined } & {
  ours: Answer;
  /** scikit-learn float64 with each of OpenBLAS's kernels. */
  byKernel: (Answer | undefined)[];
  /** The one that gates are for: with AVX2, or the fastest where the processor has none. */
  gated: Answer | undefined;
  differences: number | undefined;
};

/** The file in which the points of a workload lie, written on first use. D and D* share theirs. */
export type PointsOf = (workload: Workload) => string;

export function pointsIn(folder: string): PointsOf {
  const written = new Set<string>();
  return (workload) => {
    const file = `${folder}/${workload.name.slice(0, 1)}.f64`;
    if (!written.has(file)) {
      progress(`${workload.name}: points`);
      writePoints(file, workload);
      written.add(file);
    }
    return file;
  };
}

export async function compareLloyd(
  python: Python,
  isQuick: boolean,
  pointsOf: PointsOf,
  names: readonly string[],
): Promise<void> {
  const blas = startBlas(python, isQuick);
  const rows = [head(blas)];
  try {
    for (const workload of workloads(isQuick).filter(({ name }) => names.includes(name))) {
      rows.push(rowOf(workload, await measure(workload, python, blas, isQuick, pointsOf(workload))));
    }
  } finally {
    stopBlas(blas);
    progress("");
  }
  const size = isQuick ? "a tenth of the points, so gates are for orientation only" : "one thread";
  print(
    `k-means, how many times as fast as each peer (CPU time, theirs / ours), 20 iterations (D* until convergence, at most 100), ${size}`,
    rows,
  );
  const kinds = blas.map(({ name }) => name).join(", ");
  console.log(
    `  lloyd: scikit-learn's bare iteration, the fastest of OpenBLAS's kernels (${kinds}), and each; gates: AVX2; differ: labels`,
  );
  for (const line of toInstall(["sklearn", "faiss"], python)) console.log(`  ${line}`);
}

const head = (blas: readonly Blas[]) => [
  "",
  "m",
  "d",
  "k",
  "iterations",
  "ours, s",
  "lloyd f64",
  ...blas.map(({ name }) => name),
  "gate",
  "reach",
  "lloyd f32",
  "FAISS f32",
  "gate",
  "ml-kmeans",
  "skmeans",
  "differ",
  "",
];

function rowOf({ name, m, d, k, jobs, gate, reach, faissGate }: Workload, answers: Answers): string[] {
  const { seconds, iterations } = answers.ours;
  const quotient = (peer: Peer) => answers[peer] && answers[peer].seconds / seconds;
  const against = (answer: Answer | undefined) => (answer === undefined ? "-" : ratio(answer.seconds, seconds));
  const cell = (peer: Peer) => against(answers[peer]);
  // NaN, where a peer with a gate was not measured, is neither held nor missed.
  const shares = [(answers.gated?.seconds ?? Number.NaN) / seconds / gate];
  if (faissGate !== undefined) shares.push((quotient("faiss") ?? Number.NaN) / faissGate);
  const worst = Math.min(...shares);
  const verdict = Number.isNaN(worst) ? "-" : worst < 1 ? "missed" : "held";
  return [
    name,
    jobs > 1 ? `${jobs} x ${m}` : String(m),
    String(d),
    String(k),
    ratio(iterations, jobs),
    seconds.toPrecision(3),
    cell("lloyd64"),
    ...answers.byKernel.map(against),
    String(gate),
    String(reach),
    cell("lloyd32"),
    cell("faiss"),
    String(faissGate ?? "-"),
    cell("ml-kmeans"),
    cell("skmeans"),
    String(answers.differences ?? "-"),
    verdict,
  ];
}

async function measure(
  workload: Workload,
  { modules }: Python,
  blas: readonly Blas[],
  isQuick: boolean,
  points: string,
): Promise<Answers> {
  const job = (program: Job["program"]): Job => ({
    ...{ program, m: workload.m, d: workload.d, k: workload.k, jobs: workload.jobs, cap: workload.cap },
    ...{ points, labels: `${points}.${program}`, repeats: 5, budget: isQuick ? 0.4 : 3 },
  });
  const ask = (program: Program, name: Job["program"]) => {
    progress(`${workload.name}: ${name}`);
    return program.ask(job(name));
  };
  const peers: Peer[] = [];
  if (modules.has("sklearn")) peers.push("lloyd64", ...(workload.cap > 20 ? [] : (["lloyd32"] as const)));
  if (modules.has("faiss") && workload.faissGate !== undefined) peers.push("faiss");
  const answers: Answers = {
    ours: await askAnew("ours.js", "ours", ask),
    byKernel: blas.map(() => undefined),
    gated: undefined,
    differences: undefined,
  };
  // In turns, because the machine may have other work to do at times. The long one averages by itself.
  const turns = isQuick || workload.cap > 20 ? 1 : 2;
  for (let turn = 0; turn < turns; turn++) {
    for (const peer of peers) {
      for (const [at, { program }] of blas.entries()) {
        const answer = await answered(ask(program, peer), peer);
        answers[peer] = faster(answers[peer], answer);
        if (peer === "lloyd64") answers.byKernel[at] = faster(answers.byKernel[at], answer);
      }
    }
    answers.ours = faster(answers.ours, await askAnew("ours.js", "ours", ask)) ?? answers.ours;
  }
  answers.gated = answers.byKernel[blas.findIndex(({ name }) => name === "AVX2")] ?? answers.lloyd64;
  if (workload.isForJavaScript) {
    for (const peer of ["ml-kmeans", "skmeans"] as const) {
      answers[peer] = await answered(askAnew("javascript.js", peer, ask), peer);
    }
  }
  if (answers.lloyd64 !== undefined) answers.differences = labelDifferences(job("ours").labels, job("lloyd64").labels);
  return answers;
}

async function askAnew(
  file: "ours.js" | "javascript.js",
  name: Job["program"],
  ask: (program: Program, name: Job["program"]) => Promise<Answer>,
): Promise<Answer> {
  const program = startNode(file);
  try {
    return await ask(program, name);
  } finally {
    program.stop();
  }
}

/** A peer that fails is said to have failed; it does not cost the others their results. */
async function answered(asked: Promise<Answer>, peer: Peer): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    console.log(`${peer}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

function faster(a: Answer | undefined, b: Answer | undefined): Answer | undefined {
  return a === undefined || (b !== undefined && b.seconds < a.seconds) ? b : a;
}

export function labelDifferences(file: string, otherFile: string): number {
  const [ours, theirs] = [file, otherFile].map((name) => readFileSync(name));
  let count = 0;
  for (let at = 0; at < ours.length; at += 4) if (ours.readUInt32LE(at) !== theirs.readUInt32LE(at)) count++;
  return count;
}

// One thread against all of the machine's, on the workloads that are large enough to share: wall time in turns.

/** One thread's time over that of several, at least. */
const GATE = 1.5;
const SHARED = ["B", "C", "D", "E"];

export async function compareThreads(isQuick: boolean, pointsOf: PointsOf): Promise<void> {
  const kernel = await startThreads();
  const { threads } = kernel;
  const rows = [["", "m", "d", "k", "1 thread, s", `${threads} threads, s`, "times as fast", "gate", "same labels"]];
  try {
    for (const workload of workloads(isQuick).filter(({ name }) => SHARED.includes(name))) {
      rows.push(threadsRow(workload, pointsOf(workload), kernel, isQuick ? 1 : 3));
    }
  } finally {
    await kernel.close();
    progress("");
  }
  print(`k-means on one and on ${threads} threads, wall time, 20 iterations`, rows);
}

function threadsRow({ name, m, d, k, cap }: Workload, file: string, kernel: ThreadedKernel, turns: number): string[] {
  const data = readNumbers(file);
  const points: Matrix = { data, rows: m, cols: d };
  const options = { k, init: { data: data.slice(0, k * d), rows: k, cols: d }, maxIter: cap, tol: 0 };
  let alone = Number.POSITIVE_INFINITY;
  let together = Number.POSITIVE_INFINITY;
  let isSame = true;
  // In turns, because the machine may have other work to do at times; the first turn also pays for fresh memory.
  for (let turn = 0; turn <= turns; turn++) {
    progress(`${name}: threads, turn ${turn}`);
    const one = timed(() => kmeans(points, options));
    const several = timed(() => kmeans(points, { ...options, kernel }));
    alone = Math.min(alone, one.seconds);
    together = Math.min(together, several.seconds);
    isSame &&= one.value.labels.every((label, r) => label === several.value.labels[r]);
  }
  const seconds = [alone, together].map((value) => value.toPrecision(3));
  return [
    name,
    String(m),
    String(d),
    String(k),
    ...seconds,
    ratio(alone, together),
    String(GATE),
    isSame ? "yes" : "NO",
  ];
}

function timed<T>(run: () => T): { value: T; seconds: number } {
  const start = performance.now();
  const value = run();
  return { value, seconds: (performance.now() - start) / 1000 };
}
