// What a request says besides its rows: the words of its settings, their defaults, and the refusal of what cannot be meant.

import type { Coupling, Init, PenaltyOption, Preset, Privacy, Schedule, Weighting } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";

/**
 * Thrown for a request that cannot be meant, in one line. Options are written as the command has them (`--min-rows`):
 * `optionNames` turns them into the names of a program.
 */
export class RequestError extends Error {
  override readonly name = "RequestError";
}

/** A sentence about options for programs, which have names such as minRows where the command line has --min-rows. */
export function requestOptionNames(text: string, named: (words: readonly string[]) => string): string {
  return text.replaceAll(/--([a-z]+(?:-[a-z]+)*)/g, (_, flag: string) => named(flag.split("-")));
}

type Named<T> = Extract<T, string>;

/** Private is a mode of devices that share clusters; `fit` of core has the others. */
type FitPrivacy = Privacy | "private";

/** Names of presets. */
export const presets = ["dependable", "paper"] as const satisfies readonly Preset[];
/** Names of starts. */
export const inits = ["auto", "federated", "local", "kmeans++", "classic kmeans++"] as const satisfies readonly Init[];
/** Names of schedules. */
export const schedules = ["cyclic", "random", "coloured", "simultaneous"] as const satisfies readonly Schedule[];
/** Names of couplings. */
export const couplings = ["nearest", "transport"] as const satisfies readonly Coupling[];
/** Names of levels of privacy. */
export const privacies = ["open", "guarded", "private"] as const satisfies readonly FitPrivacy[];
/** Names of penalties. */
export const penalties = ["squared", "norm", "truncated"] as const satisfies readonly PenaltyOption[];

/** What is asked of a method besides k, alpha and seed. What is not said is not there. */
export interface MethodSettings {
  readonly preset?: Preset;
  readonly init?: Named<Init>;
  readonly schedule?: Named<Schedule>;
  readonly rounds?: number;
  readonly coupling?: Coupling;
  /** Default: every row counts the same ("sample"); with the preset "paper" every device does. */
  readonly weighting?: Weighting;
  readonly penalty?: Named<PenaltyOption>;
  /** Relative move below which a device stands still. */
  readonly tol?: number;
  readonly privacy?: FitPrivacy;
  /** With privacy "guarded": nothing sent isolates fewer rows. */
  readonly minRows?: number;
  /** With privacy "private": the differential-privacy budget. */
  readonly epsilon?: number;
}

/** With the weighting, which is always there. */
export type SettledSettings = MethodSettings & { readonly weighting: Weighting };

/** Names of settings, and what the methods of core call them. */
export const settingNames = {
  preset: "preset",
  init: "init",
  schedule: "schedule",
  rounds: "rounds",
  coupling: "coupling",
  weighting: "weighting",
  penalty: "penalty",
  tol: "tol",
  privacy: "privacy",
  minRows: "minimum",
  epsilon: "epsilon",
} as const satisfies Record<keyof MethodSettings, string>;

/**
 * One default for every request about tables: rows count equally, since who reads a table takes its rows to count the
 * same. As published, the method lets every device count the same.
 */
export function requestWeighting({ weighting, preset }: Pick<MethodSettings, "weighting" | "preset">): Weighting {
  return weighting ?? (preset === "paper" ? defaults.weighting : "sample");
}

// What a model is exported as, and whose SQL can be written.

/** Formats of exports. */
export const formats = ["sql", "onnx", "sklearn", "csv"] as const;
/** Dialects of exported SQL. */
export const dialectNames = ["duckdb", "postgres", "clickhouse", "sqlite", "trino", "spark", "standard"] as const;

/** The name of a dialect of exported SQL. */
export type DialectName = (typeof dialectNames)[number];
