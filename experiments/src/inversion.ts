// What a neighbour can compute from the messages it gets: (M) solved for a device's own cluster means and their shares.

import type { Matrix } from "@fedkm/core";

/** What one update of a device had to do with: its new centroids, and the centroids of its neighbours at that time. */
interface Exchange {
  readonly sent: Matrix;
  readonly neighbours: readonly Matrix[];
}

/** A cluster of a device: the mean of its points, and which share of the device's points they are. */
interface RecoveredCluster {
  readonly share: number;
  readonly mean: Float64Array;
  /** Which message it is about. */
  readonly message: number;
}

/** Equations that disagree by more than this, relative to their terms, are about points that changed their cluster. */
const CONSISTENT = 1e-9;

/**
 * (M) says w (f + A) = s + B for each cluster, with f and s the share and the sum of its points, and A and B what the
 * neighbours add, which whoever knows their centroids can compute. Two messages between which no point changed its
 * cluster give f and s, and a further equation that tells whether none did. undefined: no two messages agree.
 */
export function recoverCluster(
  exchanges: readonly Exchange[],
  cluster: number,
  alpha: number,
): RecoveredCluster | undefined {
  const known = exchanges.map((exchange) => ({ at: row(exchange.sent, cluster), ...pull(exchange, cluster, alpha) }));
  let best: { cluster: RecoveredCluster; error: number } | undefined;
  for (let t = 1; t < known.length; t++) {
    const [before, after] = [known[t - 1], known[t]];
    const move = after.at.map((x, d) => x - before.at[d]);
    const change = after.at.map(
      (x, d) => after.sum[d] - after.weight * x - before.sum[d] + before.weight * before.at[d],
    );
    const length = dot(move, move);
    if (length === 0) continue;
    const share = dot(change, move) / length;
    const error = Math.hypot(...change.map((x, d) => x - share * move[d])) / Math.hypot(...change);
    if (!(error < (best?.error ?? CONSISTENT)) || share <= 0 || share > 1) continue;
    const sum = after.at.map((x, d) => x * (share + after.weight) - after.sum[d]);
    best = { cluster: { share, mean: sum.map((x) => x / share), message: t }, error };
  }
  return best?.cluster;
}

/**
 * How many clusters of all devices somebody who hears every message recovers: share and mean right to 1e-6. `rounds` are
 * everybody's centroids after each round of a run that visits the devices in order, on a network with all links.
 */
export function countRecovered(
  datasets: readonly Matrix[],
  rounds: readonly (readonly Matrix[])[],
  alpha: number,
): number {
  let recovered = 0;
  datasets.forEach((points, device) => {
    const exchanges = rounds.slice(1).map((now, t) => ({
      sent: now[device],
      // Who is visited earlier has sent its new centroids by then.
      neighbours: [...now.slice(0, device), ...rounds[t].slice(device + 1)],
    }));
    for (let c = 0; c < rounds[0][device].rows; c++) {
      const found = recoverCluster(exchanges, c, alpha);
      if (found !== undefined && isRight(found, points, exchanges[found.message].sent, c)) recovered++;
    }
  });
  return recovered;
}

function isRight({ share, mean }: RecoveredCluster, points: Matrix, centroids: Matrix, cluster: number): boolean {
  const sum = new Float64Array(points.cols);
  let count = 0;
  for (let r = 0; r < points.rows; r++) {
    if (nearest(centroids, points, r) !== cluster) continue;
    count++;
    for (let d = 0; d < points.cols; d++) sum[d] += points.data[r * points.cols + d];
  }
  const near = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b));
  return near(share, count / points.rows) && mean.every((x, d) => near(x, sum[d] / count));
}

/** A and B of a cluster: the weight and the weighted sum of the neighbours' centroids that (E2) and (E3) match with it. */
function pull({ sent, neighbours }: Exchange, cluster: number, alpha: number) {
  const sum = new Float64Array(sent.cols);
  let weight = 0;
  const add = (centroids: Matrix, c: number) => {
    weight += alpha;
    for (let d = 0; d < sent.cols; d++) sum[d] += alpha * centroids.data[c * sent.cols + d];
  };
  for (const other of neighbours) {
    for (let c = 0; c < other.rows; c++) if (nearest(sent, other, c) === cluster) add(other, c);
    add(other, nearest(other, sent, cluster));
  }
  return { weight, sum };
}

/** Which of the centroids is nearest to a row of others; there are too few of them for a kernel. */
function nearest(centroids: Matrix, others: Matrix, r: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let c = 0; c < centroids.rows; c++) {
    let square = 0;
    for (let d = 0; d < centroids.cols; d++) {
      square += (centroids.data[c * centroids.cols + d] - others.data[r * centroids.cols + d]) ** 2;
    }
    if (square < least) [best, least] = [c, square];
  }
  return best;
}

function row({ data, cols }: Matrix, r: number): Float64Array {
  return data.slice(r * cols, (r + 1) * cols);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((total, x, d) => total + x * b[d], 0);
}
