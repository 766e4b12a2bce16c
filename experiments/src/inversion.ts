// What a neighbour can compute from the messages it gets: (M) solved for a device's own cluster means and their shares.

import { type Matrix, predict } from "@fedkm/core";

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
export function recoverClusters(
  exchanges: readonly Exchange[],
  alpha: number,
): readonly (RecoveredCluster | undefined)[] {
  const pulls = exchanges.map((exchange) => pullsOf(exchange, alpha));
  return Array.from({ length: exchanges[0].sent.rows }, (_, cluster) =>
    recoverCluster(exchanges.map(({ sent }, t) => ({ at: row(sent, cluster), ...pulls[t][cluster] }))),
  );
}

/** A cluster in one message: its centroid, and what the neighbours add to its equation. */
interface Equation extends Pull {
  readonly at: Float64Array;
}

function recoverCluster(known: readonly Equation[]): RecoveredCluster | undefined {
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
    // Clusters are mostly recovered from the same message, whose labels are computed once.
    const labels = new Map<number, Uint32Array>();
    recoverClusters(exchanges, alpha).forEach((found, cluster) => {
      if (found === undefined) return;
      const own = labels.get(found.message) ?? predict(exchanges[found.message].sent, points);
      labels.set(found.message, own);
      if (isRight(found, points, own, cluster)) recovered++;
    });
  });
  return recovered;
}

function isRight({ share, mean }: RecoveredCluster, points: Matrix, labels: Uint32Array, cluster: number): boolean {
  const sum = new Float64Array(points.cols);
  let count = 0;
  for (let r = 0; r < points.rows; r++) {
    if (labels[r] !== cluster) continue;
    count++;
    for (let d = 0; d < points.cols; d++) sum[d] += points.data[r * points.cols + d];
  }
  const near = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b));
  return near(share, count / points.rows) && mean.every((x, d) => near(x, sum[d] / count));
}

/** A and B of a cluster: the weight and the weighted sum of the neighbours' centroids that (E2) and (E3) match with it. */
interface Pull {
  weight: number;
  readonly sum: Float64Array;
}

/** Of every cluster of a message. */
function pullsOf({ sent, neighbours }: Exchange, alpha: number): Pull[] {
  const pulls = Array.from({ length: sent.rows }, () => ({ weight: 0, sum: new Float64Array(sent.cols) }));
  const add = (pull: Pull, centroids: Matrix, c: number) => {
    pull.weight += alpha;
    for (let d = 0; d < sent.cols; d++) pull.sum[d] += alpha * centroids.data[c * sent.cols + d];
  };
  for (const other of neighbours) {
    for (let c = 0; c < other.rows; c++) add(pulls[nearest(sent, other, c)], other, c);
    for (let c = 0; c < sent.rows; c++) add(pulls[c], other, nearest(other, sent, c));
  }
  return pulls;
}

/** Which of the centroids is nearest to a row of others; there are too few of them for a kernel. */
function nearest(centroids: Matrix, others: Matrix, r: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let c = 0; c < centroids.rows; c++) {
    let square = 0;
    for (let d = 0; d < centroids.cols; d++) {
      const difference = centroids.data[c * centroids.cols + d] - others.data[r * centroids.cols + d];
      square += difference * difference;
    }
    if (square < least) {
      best = c;
      least = square;
    }
  }
  return best;
}

function row({ data, cols }: Matrix, r: number): Float64Array {
  return data.slice(r * cols, (r + 1) * cols);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((total, x, d) => total + x * b[d], 0);
}
