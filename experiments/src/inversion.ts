// How many clusters of a run leak: what a neighbour recovers from the messages, held against the points.

import { type Matrix, predict } from "@fedkm/core";
import { type RecoveredCluster, recoverClusters } from "@fedkm/core/privacy";

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
