// What fedkm fit asks of a method besides k, alpha and seed; the method says itself what it takes.

import type {
  Coupling,
  Init,
  Method,
  MethodOptions,
  PenaltyOption,
  Preset,
  Privacy,
  Schedule,
  Weighting,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import type { Command } from "commander";
import { parseAtLeastZero, parseChoice, parseWhole } from "../../arguments.ts";
import { UsageError } from "../../failure.ts";
import { defaultWeighting, parseWeighting } from "../../input/options.ts";

type Named<T> = Extract<T, string>;

const presets = ["dependable", "paper"] as const satisfies readonly Preset[];
const inits = ["auto", "federated", "local", "kmeans++", "classic kmeans++"] as const satisfies readonly Init[];
const schedules = ["cyclic", "random", "coloured", "simultaneous"] as const satisfies readonly Schedule[];
const couplings = ["nearest", "transport"] as const satisfies readonly Coupling[];
/** Private is a mode of devices that share clusters; `fit` itself has the others. */
type FitPrivacy = Privacy | "private";
const privacies = ["open", "guarded", "private"] as const satisfies readonly FitPrivacy[];
const penalties = ["squared", "norm", "truncated"] as const satisfies readonly PenaltyOption[];

/** As they are typed: what is not said is not there. */
export interface MethodSettings {
  readonly preset?: Preset;
  readonly init?: Named<Init>;
  readonly schedule?: Named<Schedule>;
  readonly rounds?: number;
  readonly coupling?: Coupling;
  readonly weighting?: Weighting;
  readonly penalty?: Named<PenaltyOption>;
  readonly tolerance?: number;
  readonly privacy?: FitPrivacy;
  readonly minimum?: number;
  readonly epsilon?: number;
}

/** As model.json records them: the weighting is always there. */
export interface SettledSettings extends MethodSettings {
  readonly weighting: Weighting;
}

const settingNames = [
  "preset",
  "init",
  "schedule",
  "rounds",
  "coupling",
  "weighting",
  "penalty",
  "tolerance",
  "privacy",
  "minimum",
  "epsilon",
] as const;

type SettingName = (typeof settingNames)[number];

/** The option of a method that a setting stands for. */
function optionOf(name: SettingName): keyof MethodOptions | "epsilon" {
  return name === "tolerance" ? "tol" : name;
}

export function addMethodOptions(command: Command): Command {
  return command
    .optionsGroup("How the method runs:")
    .option(
      "--preset <name>",
      `dependable, or paper: as published (default: ${defaults.preset})`,
      parseChoice("--preset", presets),
    )
    .option(
      "--init <name>",
      "where devices start: auto, federated, local, kmeans++ or 'classic kmeans++' (default: as the preset has it)",
      parseChoice("--init", inits),
    )
    .option(
      "--schedule <name>",
      `who updates when: cyclic, random, coloured or simultaneous (default: ${defaults.schedule})`,
      parseChoice("--schedule", schedules),
    )
    .option(
      "--rounds <integer>",
      `at most this many (default: ${defaults.rounds}, or as the method has it)`,
      parseWhole("--rounds", 0),
    )
    .option(
      "--coupling <name>",
      `pairs of neighbours' centroids: nearest or transport (default: ${defaults.coupling})`,
      parseChoice("--coupling", couplings),
    )
    .option(
      "--weighting <name>",
      `what counts the same: every device, or every sample, which is a row (default: ${defaultWeighting}, or device with --preset paper)`,
      parseWeighting,
    )
    .option(
      "--penalty <name>",
      `what a link costs by how far its ends differ: squared, norm or truncated (default: ${defaults.penalty})`,
      parseChoice("--penalty", penalties),
    )
    .option(
      "--tolerance <number>",
      `relative move below which a device stands still (default: ${defaults.tol})`,
      parseAtLeastZero("--tolerance"),
    )
    .option(
      "--privacy <mode>",
      "as devices of a study: open, or guarded, where nothing sent isolates fewer rows than --minimum, or private with --method shared (default: open)",
      parseChoice("--privacy", privacies),
    )
    .option(
      "--minimum <rows>",
      `rows that nothing sent tells apart, with --privacy guarded (default: ${defaults.guardedMinimum})`,
      parseWhole("--minimum", 1),
    )
    .option(
      "--epsilon <number>",
      "what noise hides of a row, with --privacy private (default: 1, at delta 0.00001)",
      parseAtLeastZero("--epsilon"),
    );
}

/** What was said of the settings, and the weighting; a setting that the method would ignore is refused. */
export function settingsOf(method: string, takes: Method["takes"], said: MethodSettings): SettledSettings {
  const given = settingNames.filter((name) => said[name] !== undefined);
  const known = settingNames.filter((name) => takes === undefined || Object.hasOwn(takes, optionOf(name)));
  const { privacy, epsilon } = said;
  if (privacy === "private" && !takes?.privacy?.includes("private"))
    throw new UsageError(`--privacy private must be used with --method shared or a study, got --method ${method}`);
  if (epsilon !== undefined && privacy !== "private")
    throw new UsageError(`--epsilon must be used with --privacy private, got --privacy ${privacy ?? "open"}`);
  const stranger = given.find((name) => !known.includes(name));
  if (stranger !== undefined) {
    const flags = known.map((name) => `--${name}`).join(", ");
    throw new UsageError(`--method ${method} must be used with some of ${flags}, got --${stranger}`);
  }
  // Published as it is, the method lets every device count the same.
  const weighting = said.weighting ?? (said.preset === "paper" ? defaults.weighting : defaultWeighting);
  return { ...Object.fromEntries(given.map((name) => [name, said[name]])), weighting };
}

/** The settings as core takes them, and those that only the shared method knows. */
export function methodOptions({ tolerance, ...rest }: MethodSettings): Partial<MethodOptions> {
  return { ...(rest as Partial<MethodOptions>), ...(tolerance !== undefined && { tol: tolerance }) };
}
