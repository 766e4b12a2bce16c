// fedkm fit --study: what a study says in place of flags, and what is left to say beside it.

import { parseStudy, type Study } from "@fedkm/device";
import { readStudyText } from "@fedkm/device/daemon";
import { shellNames } from "@fedkm/tables/light";
import { UsageError } from "../../failure.ts";
import { studyPlan } from "../../studyPlan.ts";

/** What can be typed as well as said by a study, or not at all asked of devices. */
interface StudyFlags {
  readonly k?: number;
  readonly alpha?: number;
  readonly coupling?: string;
  readonly weighting?: string;
  readonly columns?: readonly string[];
  readonly missing?: string;
  readonly scale?: string;
  readonly exclude?: readonly string[];
  readonly [other: string]: unknown;
}

/** Devices have one way to run. */
const notForDevices = ["method", "preset", "init", "schedule", "rounds", "penalty", "tol", "categories"];

/** The flags that the study of a file stands for. */
export function flagsOfStudy(file: string, typed: StudyFlags) {
  const study = parseStudy(readStudyText(file));
  checkFlags(study, file, typed);
  const { k, alpha, coupling, weighting, features } = study;
  return { study: studyPlan(study), k, alpha, coupling, weighting, columns: features.map(({ name }) => name) };
}

/** What is typed besides the study must not contradict it. */
function checkFlags(study: Study, file: string, typed: StudyFlags): void {
  const columns = shellNames(study.features.map(({ name }) => name));
  for (const name of ["k", "alpha", "coupling", "weighting"] as const) {
    if (typed[name] === undefined || typed[name] === study[name]) continue;
    throw new UsageError(`--${name} must be ${study[name]}, as ${file} says, got ${typed[name]}`);
  }
  if (typed.columns !== undefined && shellNames(typed.columns) !== columns)
    throw new UsageError(`--columns must be ${columns}, as ${file} says, got ${shellNames(typed.columns)}`);
  if (typed.exclude !== undefined)
    throw new UsageError(`--exclude cannot be used with --study: the columns are ${columns}, as ${file} says`);
  if (typed.scale !== undefined) {
    const scales = study.features.map(({ name, scale }) => `${name} ${scale}`).join(", ");
    throw new UsageError(`--scale cannot be used with --study: the scales are ${scales}, as ${file} says`);
  }
  if (typed.missing !== undefined && typed.missing !== "refuse")
    throw new UsageError(`--missing must be refuse with --study, as devices do, got ${typed.missing}`);
  const stranger = notForDevices.find((name) => typed[name] !== undefined);
  if (stranger !== undefined)
    throw new UsageError(`--${stranger} cannot be used with --study: devices run in one way, see docs/protocol.md`);
}
