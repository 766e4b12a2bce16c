// LSP2P k-means (Datta, Giannella and Kargupta 2009): Lloyd's step over a device and its neighbours, until it stops moving.
// The abstract was read; the steps are those known from the literature. Full text was not at hand.

import { checkAtLeastZero, checkNetwork, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { drain, type FitModel, runRounds, startNetwork } from "../fit/fit.ts";
import { adopt, type NetworkState, refreshStatistics } from "../fit/network.ts";
import type { Graph } from "../graph/graph.ts";
import {
  checkMethodOptions,
  type MethodOptions,
  type RoundsMethodOptions,
  roundsOptions,
  roundsSettings,
} from "./method.ts";
import { orderSeeds, seedOrders } from "./order.ts";

export interface Lsp2pOptions extends RoundsMethodOptions, Pick<MethodOptions, "seeds"> {
  /** A device none of whose coordinates moved by more than this stops for good. Default 0: not at all. */
  gamma?: number | undefined;
}

/** What every device sent last, and who has stopped: from then on its last means and counts stand for it. */
interface Lsp2pRun {
  readonly state: NetworkState;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly stopped: Uint8Array;
}

/** Edge weights have no part in it. All devices are in step: in the original each waits for its neighbours only. */
export function lsp2p(datasets: readonly Matrix[], graph: Graph, options: Lsp2pOptions): FitModel {
  checkMethodOptions(options);
  const { gamma = 0, seeds = "shared", rounds = defaults.rounds, signal } = options;
  checkAtLeastZero("gamma", gamma);
  checkOneOf("seeds", seeds, seedOrders);
  checkNetwork(datasets, graph);
  const state = startNetwork(datasets, graph, options, roundsSettings(options));
  orderSeeds(state, seeds);
  const run = { state, counts: state.counts.slice(), sums: state.sums.slice(), stopped: new Uint8Array(graph.size) };
  return drain(runRounds(state, () => runIteration(run, gamma), { most: rounds, signal, isWatched: false }));
}

lsp2p.travels = "centroids and counts";
// Its end is gamma's to say, so that it has no tol.
const { tol, ...others } = roundsOptions;
lsp2p.takes = { ...others, gamma: ["number"], seeds: seedOrders };

function runIteration(run: Lsp2pRun, gamma: number) {
  const { state, stopped } = run;
  const { size } = state.graph;
  for (let i = 0; i < size; i++) if (stopped[i] === 0) sendMeans(run, i);
  for (let i = 0; i < size; i++) if (stopped[i] === 0) moveToNeighbourhoodMean(run, i);
  let largestMove = 0;
  for (let i = 0; i < size; i++) {
    if (stopped[i] !== 0) continue;
    const move = adopt(state, i);
    if (move <= gamma) stopped[i] = 1;
    largestMove = Math.max(largestMove, move);
    refreshStatistics(state, i);
  }
  return { largestMove, converged: stopped.every((own) => own === 1) };
}

/** The mean and the number of a device's points in each cluster, to all neighbours; here as sums, which are the same. */
function sendMeans({ state, counts, sums }: Lsp2pRun, i: number): void {
  const { k, sets, graph } = state;
  const { cols } = sets;
  counts.set(state.counts.subarray(i * k, (i + 1) * k), i * k);
  sums.set(state.sums.subarray(i * k * cols, (i + 1) * k * cols), i * k * cols);
  const degree = graph.neighbours[i].length;
  if (degree > 0) state.messages++;
  state.bytes += degree * k * (cols + 1) * 8;
}

/** w(i,c) <- sum of S(j,c) / sum of N(j,c), over i and its neighbours; where nobody has a point it stays. */
function moveToNeighbourhoodMean({ state, counts, sums }: Lsp2pRun, i: number): void {
  const { k, sets, graph, updated } = state;
  const { data, cols } = sets;
  const around = [i, ...graph.neighbours[i]];
  for (let c = 0; c < k; c++) {
    const count = around.reduce((sum, j) => sum + counts[j * k + c], 0);
    for (let x = 0; x < cols; x++) {
      const sum = around.reduce((part, j) => part + sums[(j * k + c) * cols + x], 0);
      const at = (i * k + c) * cols + x;
      updated[at] = count > 0 ? sum / count : data[at];
    }
  }
}
