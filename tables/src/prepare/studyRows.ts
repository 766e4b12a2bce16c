// The rows of a study: files as its devices read them, with its columns, the rows that count, and its scale. What a study
// is, and how its devices are simulated, comes in as a value: @fedkm/device has them.

import { type Graph, type Matrix, takeRows } from "@fedkm/core";
import type { InputDevice } from "../input/assignDevices.ts";
import type { GivenFeatures, Input } from "../input/readTables.ts";
import type { MethodRun, ModelScaling, StudyRecord } from "../model/model.ts";
import { countLabel } from "../numbers.ts";
import type { WorkContext } from "../work.ts";

/** A study whose devices are simulated. */
export interface StudyPlan {
  readonly study: StudyRecord;
  /** How it makes features of gaps and categories; undefined: its features stand in the files. */
  readonly features?: GivenFeatures | undefined;
  /** The places of the rows that devices would use. */
  rowsThatCount(points: Matrix): readonly number[];
  /** On the study's scale. */
  scaleRows(points: Matrix): Matrix;
  /** Devices of a study weigh rows by its typical rows. That only scales the objective, by this. */
  weightScale(datasets: readonly Matrix[]): number;
  /** What its devices reach on these rows, which are in the features' units, and links. */
  simulate(network: DeviceNetwork, seed: number, context: WorkContext): Promise<MethodRun>;
}

/** The devices of a study with their rows and links. */
export interface DeviceNetwork {
  readonly names: readonly string[];
  readonly rows: readonly (Matrix & Pick<InputDevice, "persons">)[];
  readonly graph: Graph;
}

/**
 * The rows that devices would use, in the features' units. The others have no device. Nothing is said about the columns:
 * they are agreed on. `persons`: of each device whose each row is, where that matters.
 */
export function prepareStudyRows(input: Input, plan: StudyPlan, persons?: readonly Uint32Array[]): Input {
  const places = input.devices.map(({ points }) => plan.rowsThatCount(points));
  const counts = places.map((own) => new Set(own));
  const seen = new Uint32Array(places.length);
  const files = input.files.map(({ rows, deviceOf, ...file }) => {
    const devices = Int32Array.from({ length: rows }, (_, row) => {
      const device = deviceOf(row);
      return device >= 0 && counts[device].has(seen[device]++) ? device : -1;
    });
    return { ...file, rows, deviceOf: (row: number) => devices[row] };
  });
  const devices = input.devices.map(({ name, points }, i) => ({
    name,
    points: takeRows(points, places[i]),
    ...(persons && { persons: Uint32Array.from(places[i], (r) => persons[i][r]) }),
  }));
  const warnings = input.devices.flatMap(({ name, points }, i) =>
    leftOut(name, points.rows, places[i].length, plan.study),
  );
  return { ...input, devices, files, warnings };
}

function leftOut(name: string, rows: number, used: number, { k, minimum }: StudyRecord): string[] {
  if (used === rows) return [];
  if (used > 0)
    return [
      `${countLabel(rows - used)} of ${countLabel(rows)} rows of ${name} are out of the study's bounds and get no label`,
    ];
  return [
    `${name} has fewer than ${k * minimum} rows within the study's bounds (k ${k} x minimum ${minimum}): it passes ` +
      "on what it hears, sends nothing of its own, and its rows get no label",
  ];
}

/** x becomes x / scale. */
export function prepareStudyScaling({ features }: StudyRecord): ModelScaling {
  const scale = features.map((feature) => feature.scale);
  return { kind: scale.every((one) => one === 1) ? "none" : "bounds", offset: scale.map(() => 0), scale };
}
