// A plug-in: LSP2P k-means (Datta, Giannella and Kargupta, "Approximate distributed K-Means clustering over a
// peer-to-peer network", IEEE TKDE 21(10), 2009), the first of its two algorithms.
//
// Read: the abstract; the full text was not at hand. The steps are those that later papers describe: in every iteration
// a device sends the means and counts of its own clusters to its neighbours, moves each centroid to the weighted mean
// over itself and them, and stops for good once it moves by no more than gamma.
// Differs: all devices are in step, while an original device waits for its neighbours only; nobody joins or leaves;
// edge weights have no part in it; a cluster without rows in the neighbourhood keeps its centroid.
//
//   fedkm compare --plugin examples/methods/lsp2p.ts --method fedkm,lsp2p --set lsp2p.gamma=0.01

import {
  type Method,
  type MethodOptions,
  methodOfRounds,
  type NetworkState,
  orderMethodSeeds,
  refreshNetworkStatistics,
  roundsOptions,
} from "@fedkm/core";

export interface Lsp2pOptions extends MethodOptions {
  /** A device none of whose coordinates moved by more than this stops for good. Default 0: where it stands still. */
  gamma?: number;
}

/** What every device sent last, and who has stopped: from then on its last means and counts stand for it. */
interface Run {
  readonly network: NetworkState;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly stopped: Uint8Array;
}

// Gamma ends it, so that it has no tol.
const { tol, ...taken } = roundsOptions;

const lsp2p: Method<Lsp2pOptions> = methodOfRounds(
  (network, { gamma = 0, seeds = "shared" }: Lsp2pOptions) => {
    if (!(gamma >= 0)) throw new RangeError(`gamma must be a number of at least 0, got ${gamma}`);
    orderMethodSeeds(network, seeds);
    const stopped = new Uint8Array(network.graph.size);
    const run = { network, counts: network.counts.slice(), sums: network.sums.slice(), stopped };
    return () => runIteration(run, gamma);
  },
  {
    travels: "centroids and counts",
    takes: { ...taken, gamma: ["number"], seeds: ["local", "shared", "aligned"] },
  },
);

export const methods = { lsp2p };

function runIteration(run: Run, gamma: number) {
  const { network, stopped } = run;
  const moving = Array.from(stopped.keys()).filter((i) => stopped[i] === 0);
  for (const i of moving) sendMeans(run, i);
  for (const i of moving) moveToNeighbourhoodMean(run, i);
  let largestMove = 0;
  for (const i of moving) {
    const move = adoptUpdate(network, i);
    if (move <= gamma) stopped[i] = 1;
    largestMove = Math.max(largestMove, move);
    refreshNetworkStatistics(network, i);
  }
  return { largestMove, converged: stopped.every((own) => own === 1) };
}

/** The mean and the number of a device's rows in each cluster, to all neighbours; here as sums, which are the same. */
function sendMeans({ network, counts, sums }: Run, i: number): void {
  const { k, sets, graph } = network;
  const { cols } = sets;
  counts.set(network.counts.subarray(i * k, (i + 1) * k), i * k);
  sums.set(network.sums.subarray(i * k * cols, (i + 1) * k * cols), i * k * cols);
  const degree = graph.neighbours[i].length;
  if (degree > 0) network.messages++;
  network.bytes += degree * k * (cols + 1) * 8;
}

/** w(i,c) <- sum of S(j,c) / sum of N(j,c), over i and its neighbours; where nobody has a row it stays. */
function moveToNeighbourhoodMean({ network, counts, sums }: Run, i: number): void {
  const { k, sets, graph, updated } = network;
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

/** Takes over the update of a device without sending it: means and counts went out before. Returns the largest move. */
function adoptUpdate({ k, sets, updated }: NetworkState, i: number): number {
  let largest = 0;
  for (let at = i * k * sets.cols; at < (i + 1) * k * sets.cols; at++) {
    largest = Math.max(largest, Math.abs(updated[at] - sets.data[at]));
    sets.data[at] = updated[at];
  }
  return largest;
}
