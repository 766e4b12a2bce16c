// What guarding costs by how many rows a device has: where guarded networks end, against k-means on all rows together.

import { globalCentroidDeviation, kmeans, stack } from "@fedkm/core";
import { isHeld, print } from "../measure.ts";
import { median } from "../quality/setting.ts";
import { network, settledAt, sharedProblem } from "./setting.ts";

/** No rule was chosen by networks of these seeds. */
const FIRST_SEED = 5001;
const SIZES = [100, 200, 800];
/** A GCD at which one row of a thousand counts elsewhere. */
const NEAR = 1e-3;

export async function guardedByRows({ networks }: { networks: number }): Promise<boolean> {
  const table = [["data", "rows of each device", "networks", `at most ${NEAR}`, "median", "largest"]];
  const missed: string[] = [];
  for (const kind of ["var", "aniso"] as const) {
    for (const rows of SIZES) {
      const found: number[] = [];
      for (let seed = FIRST_SEED; found.length < networks; seed++) {
        const given = sharedProblem(kind, seed, "guarded", rows);
        const simulated = await network(given);
        settledAt(
          simulated,
          given.datasets.map((_, i) => i),
          60_000,
        );
        const pooled = kmeans(stack(given.datasets), { k: given.study.k, restarts: 10, seed: 1 }).centroids;
        found.push(globalCentroidDeviation(simulated.centroids(), pooled));
      }
      const near = found.filter((deviation) => deviation <= NEAR).length;
      const figures = [median(found), Math.max(...found)].map((value) => value.toExponential(1));
      table.push([kind, String(rows), String(networks), String(near), ...figures]);
      if (rows === Math.max(...SIZES) && near < networks) missed.push(`${kind}: ${near}`);
    }
  }
  print("Guarded networks of ten devices, minimum 10: GCD to k-means on all rows", table);
  return isHeld(`all at most ${NEAR} with ${Math.max(...SIZES)} rows of each device`, missed);
}
