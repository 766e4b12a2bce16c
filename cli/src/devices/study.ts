// The study of devices on this machine: the text of its file, or a study made for points that exist in memory only.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Matrix } from "@fedkm/core";
import { formatStudy, pointsAsCsv, type Study, studyOfPoints } from "@fedkm/device";
import { systemReason } from "@fedkm/files";
import { type DataFile, deviceName } from "./folders.ts";

export function readStudyText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${file}: ${systemReason(error)}`, { cause: error });
  }
}

/** Points that exist in memory only, as the files and the study that devices need. */
export function planDatasets(
  datasets: readonly Matrix[],
  folder: string,
  choices: Partial<Study> = {},
): { studyText: string; data: DataFile[] } {
  const names = Array.from({ length: datasets[0].cols }, (_, column) => `x${column + 1}`);
  const study = studyOfPoints(datasets, names, { name: "demo", ...choices });
  const data = datasets.map((points, index) => ({
    path: join(folder, `${deviceName(index, datasets.length)}.csv`),
    text: pointsAsCsv(study, points),
  }));
  return { studyText: formatStudy(study), data };
}
