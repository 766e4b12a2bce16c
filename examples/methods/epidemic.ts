// A plug-in: Epidemic K-Means (Di Fatta, Blasa, Cafiero and Fortino, "Fault tolerant decentralised K-Means clustering for
// asynchronous large-scale networks", JPDC 73(3), 2013): Lloyd's step on sums and counts that gossip has spread.
//
// Read: the abstract; the full text was not at hand. Gossip is plain push-sum, as the file beside this has it.
// Differs: the original exchanges both ways, reaches random peers beyond the neighbours, and is made for lost messages
// and failing devices, none of which is modelled; edge weights have no part in it, every neighbour is drawn as often.
//
//   fedkm compare --plugin examples/methods/epidemic.ts --method fedkm,epidemic --set epidemic.gossip=60

import {
  largestNetworkCoordinate,
  type Method,
  type MethodOptions,
  methodOfRounds,
  type NetworkState,
  orderMethodSeeds,
  type Random,
  randomStream,
  refreshNetworkStatistics,
  roundsOptions,
} from "@fedkm/core";
import { pushSum } from "./pushSum.ts";

export interface EpidemicOptions extends MethodOptions {
  /** Gossip steps before every new mean. Default 30. */
  gossip?: number;
}

/** What a finite number of gossip steps leaves is far above rounding. */
const GOSSIP_TOLERANCE = 1e-4;

const epidemic: Method<EpidemicOptions> = methodOfRounds(
  (network, { gossip = 30, seeds = "shared", tol = GOSSIP_TOLERANCE, seed = 0 }: EpidemicOptions) => {
    if (!Number.isInteger(gossip) || gossip < 1) {
      throw new RangeError(`gossip must be an integer of at least 1, got ${gossip}`);
    }
    orderMethodSeeds(network, seeds);
    const random = randomStream(seed, "epidemic");
    return () => runIteration(network, gossip, tol, random);
  },
  {
    travels: "sums and counts",
    takes: { ...roundsOptions, gossip: ["number"], seeds: ["local", "shared", "aligned"] },
  },
);

export const methods = { epidemic };

/** One step of Lloyd. */
function runIteration(network: NetworkState, gossip: number, tol: number, random: Random) {
  const { graph, k, sets } = network;
  const { cols, data } = sets;
  const shares = ownStatistics(network);
  for (let step = 0; step < gossip; step++) {
    const messages = pushSum(graph, shares, random);
    network.messages += messages;
    network.bytes += messages * k * (cols + 1) * 8;
  }
  let largestMove = 0;
  let scale = 0;
  for (let i = 0; i < graph.size; i++) {
    for (let at = i * k * cols; at < (i + 1) * k * cols; at++) {
      const inside = at - i * k * cols;
      const count = shares[i][k * cols + Math.floor(inside / cols)];
      // Every share of a sum has travelled with the same share of its count, so no further weight is needed.
      const mean = count > 0 ? shares[i][inside] / count : data[at];
      largestMove = Math.max(largestMove, Math.abs(mean - data[at]));
      data[at] = mean;
    }
    scale = Math.max(scale, largestNetworkCoordinate(network, i));
    refreshNetworkStatistics(network, i);
  }
  return { largestMove, converged: largestMove <= tol * scale };
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
