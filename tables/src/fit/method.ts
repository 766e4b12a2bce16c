// The method of a request: looked up, its settings checked against what it takes, and run with a word on every round.

import { type FitModel, fitRounds, type Graph, type Kernel, type Matrix, type Method, methods } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { type MethodSettings, RequestError, requestWeighting, type SettledSettings, settingNames } from "../request.ts";
import { reportWorkProgress, type WorkContext } from "../work.ts";

/** A method that is not one of core's: of a plug-in, or of devices that are simulated. */
export interface NamedMethod {
  readonly name: string;
  readonly method: Method;
}

/** Which method a fit runs, and with which settings. */
export interface MethodRequest extends MethodSettings {
  readonly k: number;
  /** How strongly neighbours pull: 0 is alone. Default as in core. */
  readonly alpha?: number;
  /** Of everything random. Default 1. */
  readonly seed?: number;
  /** One of core's by its name, or another. Default "fedkm". */
  readonly method?: string | NamedMethod;
  /** For the method "fedkm" and rows at hand: how much each row of each device counts. Default 1. */
  readonly weights?: readonly ArrayLike<number>[];
  /** For the method "fedkm": where each device begins, instead of `init`. */
  readonly startAt?: readonly Matrix[];
}

/** A request that can be run: what is not said is filled in, and the method takes all that is. */
export interface CheckedMethod extends NamedMethod {
  readonly problem: { readonly k: number; readonly alpha: number; readonly seed: number };
  readonly settings: SettledSettings;
  /** Options of core that no model writes down: they are as large as the rows, or as the model. */
  readonly given: { readonly weights?: readonly ArrayLike<number>[]; readonly init?: readonly Matrix[] };
}

/** The method of a request and its settings, or an error that names what does not go together. */
export function checkFitMethod(request: MethodRequest): CheckedMethod {
  const { k, alpha = defaults.alpha, seed = 1, method: asked = "fedkm", weights, startAt } = request;
  const named = typeof asked === "string" ? { name: asked, method: methodNamed(asked) } : asked;
  const given = { ...(weights && { weights }), ...(startAt && { init: startAt }) };
  if (named.name !== "fedkm" && Object.keys(given).length > 0) {
    const what = weights === undefined ? "centroids to start at" : "weights of rows";
    throw new RequestError(`${what} must be used with --method fedkm, got --method ${named.name}`);
  }
  return { ...named, problem: { k, alpha, seed }, settings: settingsOf(named, request), given };
}

function methodNamed(name: string): Method {
  const table: Readonly<Record<string, Method>> = methods;
  if (Object.hasOwn(table, name)) return table[name];
  throw new RequestError(`--method must be one of ${Object.keys(table).join(", ")}, got "${name}"`);
}

/** What was said of the settings, and the weighting; a setting that the method would ignore is refused. */
function settingsOf({ name: method, method: { takes } }: NamedMethod, request: MethodSettings): SettledSettings {
  const names = Object.keys(settingNames) as (keyof MethodSettings)[];
  const given = names.filter((name) => request[name] !== undefined);
  const known = names.filter((name) => takes === undefined || Object.hasOwn(takes, settingNames[name]));
  const { privacy, epsilon } = request;
  if (privacy === "private" && !takes?.privacy?.includes("private"))
    throw new RequestError(`--privacy private must be used with --method shared or a study, got --method ${method}`);
  if (epsilon !== undefined && privacy !== "private")
    throw new RequestError(`--epsilon must be used with --privacy private, got --privacy ${privacy ?? "open"}`);
  const stranger = given.find((name) => !known.includes(name));
  if (stranger !== undefined) {
    const flags = known.map(flagOf).join(", ");
    throw new RequestError(`--method ${method} must be used with some of ${flags}, got ${flagOf(stranger)}`);
  }
  return { ...Object.fromEntries(given.map((name) => [name, request[name]])), weighting: requestWeighting(request) };
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The options with which a method is called. */
export function fitMethodOptions({ problem, settings }: Pick<CheckedMethod, "problem" | "settings">) {
  const said = Object.entries(settings).map(([name, value]) => [settingNames[name as keyof MethodSettings], value]);
  return { ...problem, ...(Object.fromEntries(said) as object) };
}

export function runMethod(
  checked: CheckedMethod,
  datasets: readonly Matrix[],
  graph: Graph,
  kernel: Kernel | undefined,
  context: WorkContext,
): FitModel {
  const { name, method, problem, settings, given } = checked;
  checkEnough(datasets, problem.k);
  const options = { ...fitMethodOptions(checked), ...(kernel && { kernel }) };
  if (name !== "fedkm") return method(datasets, graph, options);
  const loop = fitRounds(datasets, graph, { ...options, ...given });
  const most = settings.rounds ?? defaults.rounds;
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
    const { round, objective } = step.value;
    reportWorkProgress(context, { step: "round", round, most, objective });
  }
}

/** Another fit as it was asked for, but for what is changed. */
export type Refit = (
  datasets: readonly Matrix[],
  graph: Graph,
  change: { readonly k: number; readonly seed: number },
) => readonly Matrix[];

/**
 * Of a fit that only says how stable another one is: its rounds, and the relative move below which a device stands still.
 * What moves less changes no share of rows that anybody reads, and takes as long as everything before.
 */
const ROUNDS_AGAIN = 100;
const TOL_AGAIN = 1e-4;

/** The same method for small data, with another k or seed. Nothing is sent, so nothing has to be guarded. */
export function refitForStability({ name, method, problem, settings }: CheckedMethod): Refit {
  const { privacy, minRows, epsilon, ...kept } = settings;
  const options = fitMethodOptions({ problem, settings: kept });
  const shorter =
    name === "fedkm"
      ? {
          rounds: Math.min(ROUNDS_AGAIN, settings.rounds ?? ROUNDS_AGAIN),
          tol: Math.max(TOL_AGAIN, settings.tol ?? TOL_AGAIN),
        }
      : {};
  return (datasets, graph, change) => method(datasets, graph, { ...options, ...shorter, ...change }).centroids;
}

function checkEnough(datasets: readonly Matrix[], k: number): void {
  const most = datasets.reduce((sum, { rows }) => sum + rows, 0);
  if (k > most) throw new RequestError(`--k must be at most ${most} (the rows of all devices), got ${k}`);
}
