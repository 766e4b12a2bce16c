// Files as the devices of a study read them: its columns, rows that count, and its scale.

import { takeRows } from "@fedkm/core";
import { rowsThatCount, type Study } from "@fedkm/device";
import { count } from "../../../cli/src/numbers.ts";
import type { ChosenScaling } from "../prepare/scaling.ts";
import type { Input } from "./readTables.ts";

/**
 * The rows that devices would use, in the features' units. The others have no device. Nothing is said about the columns:
 * they are agreed on.
 */
export function inputOfStudy(input: Input, study: Study): Input {
  const places = input.devices.map(({ points }) => rowsThatCount(study, points));
  const counts = places.map((own) => new Set(own));
  const seen = new Uint32Array(places.length);
  const files = input.files.map(({ rows, deviceOf, ...file }) => {
    const devices = Int32Array.from({ length: rows }, (_, row) => {
      const device = deviceOf(row);
      return device >= 0 && counts[device].has(seen[device]++) ? device : -1;
    });
    return { ...file, rows, deviceOf: (row: number) => devices[row] };
  });
  const devices = input.devices.map(({ name, points }, i) => ({ name, points: takeRows(points, places[i]) }));
  const left = input.devices.map(({ name, points }, i) => ({ name, rows: points.rows, used: places[i].length }));
  return { ...input, devices, files, warnings: leftOut(left, study) };
}

function leftOut(devices: readonly { name: string; rows: number; used: number }[], { k, minimum }: Study): string[] {
  return devices.flatMap(({ name, rows, used }) => {
    if (used === rows) return [];
    return used === 0
      ? [
          `${name} has fewer than ${k * minimum} rows within the study's bounds (k ${k} x minimum ${minimum}): it passes ` +
            "on what it hears, sends nothing of its own, and its rows get no label",
        ]
      : [`${count(rows - used)} of ${count(rows)} rows of ${name} are out of the study's bounds and get no label`];
  });
}

/** x becomes x / scale. */
export function scalingOfStudy({ features }: Study): ChosenScaling["scaling"] {
  const scale = features.map((feature) => feature.scale);
  return { kind: scale.every((one) => one === 1) ? "none" : "bounds", offset: scale.map(() => 0), scale };
}
