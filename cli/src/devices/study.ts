// The study of devices on this machine: the text of its file, or a study made for points that exist in memory only.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Matrix } from "@fedkm/core";
import { type Feature, formatStudy, type Study } from "@fedkm/device";
import { systemReason } from "../failure.ts";
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
  const data = datasets.map((points, index) => {
    const lines = Array.from({ length: points.rows }, (_, row) =>
      points.data.subarray(row * points.cols, (row + 1) * points.cols).join(","),
    );
    const path = join(folder, `${deviceName(index, datasets.length)}.csv`);
    return { path, text: `${[names.join(","), ...lines].join("\n")}\n` };
  });
  return { studyText: formatStudy(studyOf(datasets, names, choices)), data };
}

export function studyOf(datasets: readonly Matrix[], names: readonly string[], choices: Partial<Study> = {}): Study {
  const features = names.map((name, column): Feature => {
    const values = datasets.flatMap(({ data, cols }) => Array.from(data).filter((_, i) => i % cols === column));
    return {
      name,
      unit: "",
      min: Math.floor(Math.min(...values)) - 1,
      max: Math.ceil(Math.max(...values)) + 1,
      scale: 1,
    };
  });
  return {
    name: "demo",
    k: 3,
    features,
    alpha: 1,
    coupling: "nearest",
    weighting: "device",
    typicalRows: null,
    privacy: "open",
    minimum: 1,
    ...choices,
  };
}
