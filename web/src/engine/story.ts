// A run as the playground shows it: the rounds of one method, and what happens to devices and links between them.
// Every number comes from core; between two events the rounds are those of its own loop.

import {
  communities,
  communityData,
  complete,
  consensusRounds,
  consensusVariation,
  discrepancy,
  distributedRounds,
  type Edge,
  edges,
  erdosRenyi,
  fitRounds,
  type Graph,
  globalCentroidDeviation,
  graph,
  grid,
  type Init,
  kmeans,
  type Matrix,
  matchCentroids,
  methods,
  paperData,
  path,
  type Round,
  randomStream,
  ring,
  splitByLabel,
  splitBySizes,
  stack,
  star,
} from "@fedkm/core";
import { MOST_ROUNDS, type PlaygroundMethod, type Setup, type StoryEvent } from "./setup.ts";

export interface PlaygroundData {
  readonly datasets: readonly Matrix[];
  readonly links: readonly Edge[];
  /** k-means of all points together, which no device could compute. */
  readonly pooled: Matrix;
}

/** `own`: the reader's points, one matrix for each device. */
export function playgroundData(setup: Setup, own: readonly Matrix[] = []): PlaygroundData {
  const datasets = datasetsOf(setup, own);
  const { k, seed } = setup;
  const pooled = kmeans(stack(datasets), { k, seed }).centroids;
  return { datasets, links: Array.from(edges(graphOf(setup, datasets.length))), pooled };
}

function datasetsOf({ data, devices, points, seed }: Setup, own: readonly Matrix[]): readonly Matrix[] {
  if (data === "own") return own;
  if (data === "communities") return communityData(Math.ceil(devices / 2), points, seed).datasets.slice(0, devices);
  if (data === "skew") return splitByLabel(drawnTogether(devices * points, seed), devices, 0.3, seed).datasets;
  if (data === "shifted") return shiftedApart(paperData("iso", devices, points, seed).datasets);
  if (data === "tiny") {
    // One device has many points, the others fewer than they would need alone.
    const sizes = Array.from({ length: devices }, (_, i) => (i === 0 ? points : 4 + (i % 4)));
    const all = sizes.reduce((sum, size) => sum + size, 0);
    return splitBySizes(drawnTogether(all, seed), sizes, seed).datasets;
  }
  return paperData(data, devices, points, seed).datasets;
}

/** How far devices of "shifted" are from the middle of all; their clusters have a deviation of 1. */
const SHIFT = 2;

/** All devices have the same clusters, each a little elsewhere: as instruments that are not gauged alike. */
function shiftedApart(datasets: readonly Matrix[]): Matrix[] {
  return datasets.map(({ data, rows, cols }, i) => {
    const turn = (2 * Math.PI * (i + 0.5)) / datasets.length;
    const shift = [-SHIFT * Math.cos(turn), SHIFT * Math.sin(turn)];
    return { data: data.map((value, at) => value + shift[at % 2]), rows, cols };
  });
}

function drawnTogether(points: number, seed: number) {
  const { datasets, labels } = paperData("iso", 1, points, seed);
  return { points: datasets[0], labels: labels[0] };
}

function graphOf({ graph, density, seed }: Setup, devices: number): Graph {
  if (graph === "complete") return complete(devices);
  if (graph === "ring") return ring(devices);
  if (graph === "path") return path(devices);
  if (graph === "star") return star(devices);
  if (graph === "grid") {
    const rows = Math.floor(Math.sqrt(devices));
    // The largest divisor that is no more than the root: no spot stays empty.
    const fitting = Array.from({ length: rows }, (_, i) => rows - i).find((count) => devices % count === 0) ?? 1;
    return grid(fitting, devices / fitting);
  }
  const random = randomStream(seed, "graph");
  if (graph === "communities") {
    const half = Math.ceil(devices / 2);
    return communities([half, devices - half], 0.7, 1 / devices, random);
  }
  return erdosRenyi(devices, density, random);
}

interface NetworkState {
  /** The devices that are there, by number. */
  readonly present: readonly number[];
  readonly links: readonly Edge[];
  readonly frozen: ReadonlyMap<number, "kill" | "lie">;
}

/** Of the devices that are there, numbered in their order. */
function networkGraph({ present, links }: NetworkState): Graph {
  const at = new Map(present.map((device, position) => [device, position]));
  return graph(
    present.length,
    links.map(([i, j]): Edge => [at.get(i) as number, at.get(j) as number]),
  );
}

/**
 * From `positions`, or from the setup's start. After an opening the devices begin where they are or at a new start,
 * whichever is better one round later.
 */
function* roundsOf(
  problem: PlaygroundData,
  scene: NetworkState,
  setup: Setup,
  method: PlaygroundMethod,
  positions?: ReadonlyMap<number, Matrix>,
  isOpening = false,
): Generator<Round, void, void> {
  const here = positions && scene.present.map((device) => positions.get(device) as Matrix);
  const from = (init: readonly Matrix[] | undefined) => rounds(problem, scene, setup, method, init);
  const objectiveAfter = (init: readonly Matrix[] | undefined) => {
    let objective = Number.POSITIVE_INFINITY;
    for (const step of from(init)) {
      ({ objective } = step);
      if (step.round === 1) break;
    }
    return objective;
  };
  yield* from(isOpening && objectiveAfter(undefined) < objectiveAfter(here) ? undefined : here);
}

function* rounds(
  { datasets: all }: PlaygroundData,
  scene: NetworkState,
  setup: Setup,
  method: PlaygroundMethod,
  given: readonly Matrix[] | undefined,
): Generator<Round, void, void> {
  const { k, alpha, seed, penalty, preset, schedule, robust, privacy } = setup;
  const datasets = scene.present.map((device) => all[device]);
  const links = networkGraph(scene);
  // Left out, it is what core holds for right with this alpha and penalty.
  const init = given === undefined ? startOf(setup) : { init: given };
  const common = { k, alpha, seed, rounds: MOST_ROUNDS, ...init };
  if (method === "consensus") yield* consensusRounds(datasets, links, common);
  else if (method === "distributed") {
    // Those that compare clusters by where they are need no order.
    const seeds = given === undefined && setup.start === "aligned" ? "aligned" : "local";
    yield* distributedRounds(datasets, links, { ...common, seeds });
  } else if (method !== "fedkm") {
    const { centroids, history } = methods[method](datasets, links, { k, alpha, seed });
    yield { ...history[history.length - 1], round: 0, centroids };
  } else if (scene.frozen.size === 0) {
    yield* fitRounds(datasets, links, { ...common, penalty, preset, schedule, robust, privacy });
  } else {
    yield* withFrozen(datasets, links, scene, { ...common, penalty, preset, robust, privacy });
  }
}

/** Core refuses a common start with these penalties: the devices would never leave it. */
function startOf({ start, penalty }: Setup): { init?: Init } {
  const isCommon = start === "auto" || start === "federated";
  if (start === "auto" || (penalty !== "squared" && isCommon)) return {};
  return { init: start === "aligned" ? "local" : start };
}

/** Rounds in which some devices do not update: all others do, one after the other. */
function* withFrozen(
  datasets: readonly Matrix[],
  links: Graph,
  { present, frozen }: NetworkState,
  options: Omit<Parameters<typeof fitRounds>[2], "schedule">,
): Generator<Round, void, void> {
  const turns = present.flatMap((device, at) => (frozen.has(device) ? [] : [[at]]));
  if (turns.length === 0) return;
  const schedule = Array.from({ length: MOST_ROUNDS * turns.length }, (_, t) => turns[t % turns.length]);
  let largestMove = 0;
  for (const step of fitRounds(datasets, links, { ...options, rounds: schedule.length, schedule })) {
    largestMove = Math.max(largestMove, step.largestMove);
    if (step.round % turns.length !== 0) continue;
    const { centroids } = step;
    yield { ...step, centroids, round: step.round / turns.length, largestMove };
    // A whole round without a move: nothing is going to happen any more.
    if (step.round > 0 && largestMove === 0) return;
    largestMove = 0;
  }
}

/** One moment of a run. Devices that have left are not in it. */
export interface Moment {
  readonly round: number;
  /** The devices that are there, by number; centroids and clusters have one entry for each. */
  readonly devices: readonly number[];
  readonly centroids: readonly Matrix[];
  /** For each centroid of a device the cluster of the pooled solution that it stands for. */
  readonly clusters: readonly Uint32Array[];
  readonly links: readonly Edge[];
  /** d(W_i, W_j) of every link. */
  readonly discrepancies: readonly number[];
  /** Who does not update any more, because it stopped or because it always sends the same lie. */
  readonly frozen: ReadonlyMap<number, "kill" | "lie">;
  readonly objective: number;
  readonly totalVariation: number;
  /** GCD: how far the devices that do not lie are from the pooled solution. */
  readonly deviation: number;
  /** CV: how far neighbours are from each other. */
  readonly variation: number;
  readonly messages: number;
  readonly bytes: number;
}

/** Where a part of a run began: at which round, and what had been sent until then. */
interface Base {
  readonly round: number;
  readonly messages: number;
  readonly bytes: number;
}

/** The moments of a run, beginning with the start as round 0. What happens at a round is seen in that round's moment. */
export function* story(problem: PlaygroundData, setup: Setup, method: PlaygroundMethod): Generator<Moment, void, void> {
  let scene: NetworkState = { present: problem.datasets.map((_, i) => i), links: problem.links, frozen: new Map() };
  let positions: ReadonlyMap<number, Matrix> | undefined;
  let base: Base = { round: 0, messages: 0, bytes: 0 };
  for (;;) {
    const due = setup.events.filter(({ round }) => round === base.round);
    if (due.length > 0 && positions === undefined) {
      const [start] = roundsOf(problem, scene, setup, method);
      positions = positionsOf(scene, start);
    }
    for (const event of due) {
      positions = positionsAfter(positions as ReadonlyMap<number, Matrix>, event, problem);
      scene = sceneAfter(scene, event);
    }
    if (scene.present.length === 0) return;
    const isOpening = setup.heal && due.some(({ kind }) => kind === "leave");
    const next = setup.events.reduce(
      (least, { round }) => (round > base.round ? Math.min(least, round) : least),
      Infinity,
    );
    let reached: Base = base;
    let begun: Round | undefined;
    for (const step of roundsOf(problem, scene, setup, method, positions, isOpening)) {
      begun ??= step;
      // Neighbours know each other's centroids from before, but for the very first ones and those of an opening.
      const isCounted = positions === undefined || isOpening || base.round === 0;
      reached = {
        round: base.round + step.round,
        messages: base.messages + step.messages - (isCounted ? 0 : begun.messages),
        bytes: base.bytes + step.bytes - (isCounted ? 0 : begun.bytes),
      };
      positions = positionsOf(scene, step);
      if (reached.round >= next) break;
      yield momentOf(problem, scene, step, reached);
      if (reached.round >= MOST_ROUNDS) return;
    }
    if (next === Infinity) return;
    // Where the run has settled before, nothing happens until then.
    base = { ...reached, round: next };
  }
}

function positionsOf({ present }: NetworkState, { centroids }: Round): ReadonlyMap<number, Matrix> {
  return new Map(present.map((device, at) => [device, centroids[at]]));
}

function sceneAfter(scene: NetworkState, event: StoryEvent): NetworkState {
  const { present, links, frozen } = scene;
  if (event.kind === "kill" || event.kind === "lie") {
    return { ...scene, frozen: new Map(frozen).set(event.device, event.kind) };
  }
  if (event.kind === "leave") {
    const others = new Map(frozen);
    others.delete(event.device);
    return {
      present: present.filter((device) => device !== event.device),
      links: links.filter(([i, j]) => i !== event.device && j !== event.device),
      frozen: others,
    };
  }
  if (!("ends" in event)) return scene;
  const [a, b] = event.ends;
  const isThere = (link: Edge) => (link[0] === a && link[1] === b) || (link[0] === b && link[1] === a);
  const without = links.filter((link) => !isThere(link));
  const canLink = event.kind === "link" && present.includes(a) && present.includes(b);
  return { ...scene, links: canLink ? [...without, [Math.min(a, b), Math.max(a, b)]] : without };
}

function positionsAfter(
  positions: ReadonlyMap<number, Matrix>,
  event: StoryEvent,
  problem: PlaygroundData,
): ReadonlyMap<number, Matrix> {
  if (event.kind !== "wrong" && event.kind !== "lie") return positions;
  const centroids = positions.get(event.device);
  if (centroids === undefined) return positions;
  const changed = event.kind === "lie" ? lieOf(centroids, problem) : wrongStart(problem, event.device, centroids);
  return new Map(positions).set(event.device, changed);
}

/** How far a liar moves its centroids, as a share of the range of all points. */
const LIE = 0.6;

function lieOf({ data, rows, cols }: Matrix, { datasets }: PlaygroundData): Matrix {
  const ranges = Array.from({ length: cols }, (_, x) => {
    let [least, most] = [Infinity, -Infinity];
    for (const points of datasets) {
      for (let at = x; at < points.data.length; at += cols) {
        least = Math.min(least, points.data[at]);
        most = Math.max(most, points.data[at]);
      }
    }
    return most - least;
  });
  return { data: data.map((value, at) => value + LIE * ranges[at % cols]), rows, cols };
}

/** An unlucky draw: every seed is a point of the same cluster. */
function wrongStart({ datasets, pooled }: PlaygroundData, device: number, { rows: k, cols }: Matrix): Matrix {
  const points = datasets[device];
  const far = (r: number) => {
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (points.data[r * cols + x] - pooled.data[x]) ** 2;
    return sum;
  };
  const nearest = Array.from({ length: points.rows }, (_, r) => r).sort((a, b) => far(a) - far(b) || a - b);
  const data = Array.from({ length: k }, (_, c) => {
    const at = nearest[Math.min(c, points.rows - 1)] * cols;
    return Array.from(points.data.subarray(at, at + cols));
  });
  return { data: Float64Array.from(data.flat()), rows: k, cols };
}

function momentOf(problem: PlaygroundData, scene: NetworkState, step: Round, { round, messages, bytes }: Base): Moment {
  const { present, links, frozen } = scene;
  const { centroids, objective, totalVariation } = step;
  const of = new Map(present.map((device, at) => [device, centroids[at]]));
  const honest = present.flatMap((device, at) => (frozen.get(device) === "lie" ? [] : [centroids[at]]));
  return {
    round,
    devices: present,
    centroids,
    clusters: centroids.map((own) => matchCentroids(own, problem.pooled)),
    links,
    discrepancies: links.map(([i, j]) => discrepancy(of.get(i) as Matrix, of.get(j) as Matrix)),
    frozen,
    objective,
    totalVariation,
    deviation: honest.length === 0 ? Number.NaN : globalCentroidDeviation(honest, problem.pooled),
    variation: consensusVariation(centroids, networkGraph(scene)),
    messages,
    bytes,
  };
}
