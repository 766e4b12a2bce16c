// A run as the playground shows it: the rounds of one method, and what happens to devices and links between them.
// Every number comes from core; between two events the rounds are those of its own loop.

import {
  consensusVariation,
  discrepancy,
  type Edge,
  globalCentroidDeviation,
  type Matrix,
  matchCentroids,
  type Round,
} from "@fedkm/core";
import type { Problem } from "./problem.ts";
import { graphOf, MOST_ROUNDS, roundsOf, type Scene } from "./rounds.ts";
import type { MethodName, Setup, StoryEvent } from "./setup.ts";

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
export function* story(problem: Problem, setup: Setup, method: MethodName): Generator<Moment, void, void> {
  let scene: Scene = { present: problem.datasets.map((_, i) => i), links: problem.links, frozen: new Map() };
  let places: ReadonlyMap<number, Matrix> | undefined;
  let base: Base = { round: 0, messages: 0, bytes: 0 };
  for (;;) {
    const due = setup.events.filter(({ round }) => round === base.round);
    if (due.length > 0 && places === undefined) {
      const [start] = roundsOf(problem, scene, setup, method);
      places = placesOf(scene, start);
    }
    for (const event of due) {
      places = placesAfter(places as ReadonlyMap<number, Matrix>, event, problem);
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
    for (const step of roundsOf(problem, scene, setup, method, places, isOpening)) {
      begun ??= step;
      // Neighbours know each other's centroids from before, but for the very first ones and those of an opening.
      const isCounted = places === undefined || isOpening || base.round === 0;
      reached = {
        round: base.round + step.round,
        messages: base.messages + step.messages - (isCounted ? 0 : begun.messages),
        bytes: base.bytes + step.bytes - (isCounted ? 0 : begun.bytes),
      };
      places = placesOf(scene, step);
      if (reached.round >= next) break;
      yield momentOf(problem, scene, step, reached);
      if (reached.round >= MOST_ROUNDS) return;
    }
    if (next === Infinity) return;
    // Where the run has settled before, nothing happens until then.
    base = { ...reached, round: next };
  }
}

function placesOf({ present }: Scene, { centroids }: Round): ReadonlyMap<number, Matrix> {
  return new Map(present.map((device, at) => [device, centroids[at]]));
}

function sceneAfter(scene: Scene, event: StoryEvent): Scene {
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

function placesAfter(
  places: ReadonlyMap<number, Matrix>,
  event: StoryEvent,
  problem: Problem,
): ReadonlyMap<number, Matrix> {
  if (event.kind !== "wrong" && event.kind !== "lie") return places;
  const centroids = places.get(event.device);
  if (centroids === undefined) return places;
  const changed = event.kind === "lie" ? lieOf(centroids, problem) : wrongStart(problem, event.device, centroids);
  return new Map(places).set(event.device, changed);
}

/** How far a liar moves its centroids, as a share of the range of all points. */
const LIE = 0.6;

function lieOf({ data, rows, cols }: Matrix, { datasets }: Problem): Matrix {
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
function wrongStart({ datasets, pooled }: Problem, device: number, { rows: k, cols }: Matrix): Matrix {
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

function momentOf(problem: Problem, scene: Scene, step: Round, { round, messages, bytes }: Base): Moment {
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
    variation: consensusVariation(centroids, graphOf(scene)),
    messages,
    bytes,
  };
}
