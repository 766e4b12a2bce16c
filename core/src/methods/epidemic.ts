// Epidemic k-means (Di Fatta, Blasa, Cafiero and Fortino 2013): Lloyd's step on sums and counts that gossip has spread.
// The abstract was read; push-sum is that of Kempe, Dobra and Gehrke (2003). Full text was not at hand.

import { checkInteger, checkNetwork, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { type Random, randomStream } from "../data/random.ts";
import { drain, type FitModel, runRounds, startNetwork } from "../fit/fit.ts";
import { adopt, type NetworkState, refreshStatistics } from "../fit/network.ts";
import { largestCoordinate } from "../fit/tolerance.ts";
import type { Graph } from "../graph/graph.ts";
import {
  checkMethodOptions,
  type MethodOptions,
  type RoundsMethodOptions,
  roundsOptions,
  roundsSettings,
} from "./method.ts";
import { orderSeeds, seedOrders } from "./order.ts";

export interface EpidemicOptions extends RoundsMethodOptions, Pick<MethodOptions, "seeds"> {
  /** Gossip steps before every new mean: in each, every device sends to one neighbour. Default 30. */
  gossip?: number | undefined;
  /** A round in which no coordinate moves by more than this, relative to the largest, is the last. Default 1e-4. */
  tol?: number | undefined;
}

/** What a finite number of gossip steps leaves is far above rounding. */
const GOSSIP_TOLERANCE = 1e-4;

/** Edge weights have no part in it: every neighbour is drawn as often. A round is one step of Lloyd. */
export function epidemic(datasets: readonly Matrix[], graph: Graph, options: EpidemicOptions): FitModel {
  checkMethodOptions(options);
  const {
    gossip = 30,
    tol = GOSSIP_TOLERANCE,
    seeds = "shared",
    rounds = defaults.rounds,
    seed = defaults.seed,
  } = options;
  checkInteger("gossip", gossip, 1);
  checkOneOf("seeds", seeds, seedOrders);
  checkNetwork(datasets, graph);
  const state = startNetwork(datasets, graph, options, roundsSettings({ ...options, tol }));
  orderSeeds(state, seeds);
  const random = randomStream(seed, "epidemic");
  return drain(
    runRounds(state, () => runIteration(state, gossip, random), {
      most: rounds,
      signal: options.signal,
      isWatched: false,
    }),
  );
}

epidemic.travels = "sums and counts";
epidemic.takes = { ...roundsOptions, gossip: ["number"], seeds: seedOrders };

function runIteration(state: NetworkState, gossip: number, random: Random) {
  const { graph, k, sets, updated } = state;
  const { size } = graph;
  const { cols, data } = sets;
  const shares = ownStatistics(state);
  for (let step = 0; step < gossip; step++) {
    const messages = pushSum(graph, shares, random);
    state.messages += messages;
    state.bytes += messages * k * (cols + 1) * 8;
  }
  let largestMove = 0;
  let scale = 0;
  for (let i = 0; i < size; i++) {
    for (let at = i * k * cols; at < (i + 1) * k * cols; at++) {
      const inside = at - i * k * cols;
      const count = shares[i][k * cols + Math.floor(inside / cols)];
      // Every share of a sum has travelled with the same share of its count, so no further weight is needed.
      updated[at] = count > 0 ? shares[i][inside] / count : data[at];
    }
    largestMove = Math.max(largestMove, adopt(state, i));
    scale = Math.max(scale, largestCoordinate(state, i));
    refreshStatistics(state, i);
  }
  return { largestMove, converged: largestMove <= state.settings.tol * scale };
}

/** Of every device, the sums of its clusters and then their counts. */
function ownStatistics({ graph, k, sets: { cols }, sums, counts }: NetworkState): Float64Array[] {
  return Array.from({ length: graph.size }, (_, i) => {
    const own = new Float64Array(k * (cols + 1));
    own.set(sums.subarray(i * k * cols, (i + 1) * k * cols));
    own.set(counts.subarray(i * k, (i + 1) * k), k * cols);
    return own;
  });
}

/**
 * One step of push-sum, all devices at once: each keeps half of what it holds and sends half to one neighbour, drawn at
 * random. What all hold together never changes. Returns how many sent.
 */
export function pushSum({ neighbours }: Graph, /* IN OUT */ shares: readonly Float64Array[], random: Random): number {
  const targets = neighbours.map((links) => (links.length === 0 ? -1 : links[Math.floor(random() * links.length)]));
  const halves = shares.map((own) => own.map((value) => value / 2));
  let messages = 0;
  targets.forEach((target, i) => {
    if (target < 0) return;
    messages++;
    for (let at = 0; at < shares[i].length; at++) shares[i][at] -= halves[i][at];
    for (let at = 0; at < shares[i].length; at++) shares[target][at] += halves[i][at];
  });
  return messages;
}
