// A user's own points and classes, such as features of CIFAR-10, for the study of real data.

import { createHash } from "node:crypto";
import { type LabelledPoints, stack } from "@fedkm/core";
import { reducedFeatures } from "@fedkm/experiments";
import { expandPatterns } from "@fedkm/files";
import { readClasses, readRows } from "@fedkm/tables";
import { UsageError } from "../../failure.ts";

export interface Features {
  readonly points: LabelledPoints;
  /** What tells these points from others: a run is resumed with the same ones only. */
  readonly mark: { readonly rows: number; readonly columns: number; readonly sha256: string };
}

export async function readFeatures(files: readonly string[], classes: string): Promise<Features> {
  const options = { exclude: [classes], missing: "refuse" } as const;
  const input = await readRows({ ...options, files: expandPatterns(files) });
  const labels = (await readClasses(input, classes, options)).flatMap((own) => [...own]);
  const points = stack(input.devices.map((device) => device.points));
  if (new Set(labels).size < 2) {
    throw new UsageError(`--classes must name a column with at least 2 classes, got 1 in ${classes}`);
  }
  const hash = createHash("sha256").update(new Uint8Array(points.data.buffer)).update(Uint32Array.from(labels));
  return {
    points: reducedFeatures({ points, labels: Uint32Array.from(labels) }),
    mark: { rows: points.rows, columns: points.cols, sha256: hash.digest("hex") },
  };
}
