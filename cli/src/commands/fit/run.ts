// The method of fedkm fit: looked up, its options checked, and run with a word on every round.

import {
  type FitModel,
  fitRounds,
  type Graph,
  type Kernel,
  type Matrix,
  type Method,
  methods,
  type RoundSummary,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { sharedMethod } from "@fedkm/device";
import { UsageError } from "../../failure.ts";
import type { Model } from "../../model/model.ts";
import { significant } from "../../numbers.ts";
import { type Progress, secondsLeft } from "../../progress.ts";
import type { Refit } from "./report/sure.ts";
import { type MethodSettings, methodOptions, type SettledSettings, settingsOf } from "./settings.ts";

/** What is to be run, checked before any file is read. */
export interface Asked {
  readonly name: string;
  readonly method: Method;
  readonly problem: { readonly k: number; readonly alpha: number; readonly seed: number };
  /** What was said beyond that, and what counts the same. */
  readonly settings: SettledSettings;
}

/** What model.json says of a run. */
export type Found = Pick<FitModel, "centroids" | "objective" | "rounds" | "converged" | "penalty" | "guarded"> &
  Pick<Model, "messages" | "bytes" | "history" | "passes">;

type Table = Readonly<Record<string, Method>>;

/** As they are typed. */
export type AskedOptions = MethodSettings & Asked["problem"] & { readonly method: string };

export function askedOf(options: AskedOptions, plugged: Table): Asked {
  const { method: name, k, alpha, seed } = options;
  const table: Table = { ...methods, shared: sharedMethod, ...plugged };
  if (!Object.hasOwn(table, name))
    throw new UsageError(`--method must be one of ${Object.keys(table).join(", ")}, got "${name}"`);
  return {
    name,
    method: table[name],
    problem: { k, alpha, seed },
    settings: settingsOf(name, table[name].takes, options),
  };
}

export function runMethod(
  { name, method, problem, settings }: Asked,
  datasets: readonly Matrix[],
  graph: Graph,
  { kernel, progress }: { readonly kernel: Kernel | undefined; readonly progress: Progress },
): FitModel {
  checkEnough(datasets, problem.k);
  const options = { ...problem, ...methodOptions(settings), ...(kernel && { kernel }) };
  if (name !== "fedkm") return method(datasets, graph, options);
  const loop = fitRounds(datasets, graph, options);
  const say = roundWatch(settings.rounds ?? defaults.rounds, (text) => progress.show(text));
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
    say(step.value);
  }
}

/** Rounds that try further starts and say nothing about how long the others take. */
const OPENING_ROUNDS = 2;

/** A function that is told of every round, and says how far a run of at most so many of them is. */
export function roundWatch(most: number, say: (text: string) => void, now = () => performance.now()) {
  let began = now();
  return ({ round, objective }: Pick<RoundSummary, "round" | "objective">) => {
    if (round <= OPENING_ROUNDS) began = now();
    const share = (round - OPENING_ROUNDS) / (most - OPENING_ROUNDS);
    const left = secondsLeft(now() - began, share);
    const guess = left === undefined ? "" : `  at most ${left} s left`;
    say(`fedkm  round ${round} of at most ${most}  objective ${significant(objective, 4)}${guess}`);
  };
}

/**
 * Of a fit that only says how sure another one is: its rounds, and the relative move below which a device stands still.
 * What moves less changes no share of rows that anybody reads, and takes as long as everything before.
 */
const ROUNDS_AGAIN = 100;
const TOL_AGAIN = 1e-4;

/** The same method for small data, with another k or seed. Nothing is sent, so nothing has to be guarded. */
export function refitOf({ name, method, problem, settings }: Asked): Refit {
  const { privacy, minimum, epsilon, ...kept } = settings;
  const options = { ...problem, ...methodOptions(kept) };
  const shorter =
    name === "fedkm"
      ? {
          rounds: Math.min(ROUNDS_AGAIN, settings.rounds ?? ROUNDS_AGAIN),
          tol: Math.max(TOL_AGAIN, settings.tolerance ?? TOL_AGAIN),
        }
      : {};
  return (datasets, graph, change) => method(datasets, graph, { ...options, ...shorter, ...change }).centroids;
}

function checkEnough(datasets: readonly Matrix[], k: number): void {
  const most = datasets.reduce((sum, { rows }) => sum + rows, 0);
  if (k > most) throw new UsageError(`--k must be at most ${most} (the rows of all devices), got ${k}`);
}
