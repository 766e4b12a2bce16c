// The rounds of a method from some moment on, as core makes them: who is there, who is linked, who does not update.

import {
  consensusRounds,
  distributedRounds,
  type Edge,
  fitRounds,
  type Graph,
  graph,
  type Init,
  type Matrix,
  methods,
  type Round,
} from "@fedkm/core";
import type { Problem } from "./problem.ts";
import type { MethodName, Setup } from "./setup.ts";

/** More rounds than anybody watches; with a device that lies nothing ends by itself. */
export const MOST_ROUNDS = 400;

/** What a network is like between two events. */
export interface Scene {
  /** The devices that are there, by number. */
  readonly present: readonly number[];
  readonly links: readonly Edge[];
  readonly frozen: ReadonlyMap<number, "kill" | "lie">;
}

/** Of the devices that are there, numbered in their order. */
export function graphOf({ present, links }: Scene): Graph {
  const at = new Map(present.map((device, position) => [device, position]));
  return graph(
    present.length,
    links.map(([i, j]): Edge => [at.get(i) as number, at.get(j) as number]),
  );
}

/**
 * From `places`, or from the setup's start. After an opening the devices begin where they are or at a new start,
 * whichever is better one round later.
 */
export function* roundsOf(
  problem: Problem,
  scene: Scene,
  setup: Setup,
  method: MethodName,
  places?: ReadonlyMap<number, Matrix>,
  isOpening = false,
): Generator<Round, void, void> {
  const here = places && scene.present.map((device) => places.get(device) as Matrix);
  if (!isOpening) {
    yield* rounds(problem, scene, setup, method, here);
    return;
  }
  const objectiveAfter = (init: readonly Matrix[] | undefined) => {
    let objective = Number.POSITIVE_INFINITY;
    for (const step of rounds(problem, scene, setup, method, init)) {
      ({ objective } = step);
      if (step.round === 1) break;
    }
    return objective;
  };
  yield* rounds(problem, scene, setup, method, objectiveAfter(undefined) < objectiveAfter(here) ? undefined : here);
}

function* rounds(
  { datasets: all }: Problem,
  scene: Scene,
  setup: Setup,
  method: MethodName,
  given: readonly Matrix[] | undefined,
): Generator<Round, void, void> {
  const { k, alpha, seed, penalty, preset, schedule } = setup;
  const datasets = scene.present.map((device) => all[device]);
  const links = graphOf(scene);
  // Left out, it is what core holds for right with this alpha and penalty.
  const init = given === undefined ? startOf(setup) : { init: given };
  const common = { k, alpha, seed, rounds: MOST_ROUNDS, ...init };
  if (method === "consensus") yield* consensusRounds(datasets, links, common);
  else if (method === "distributed") {
    // Those that compare clusters by their places need no order.
    const seeds = given === undefined && setup.start === "aligned" ? "aligned" : "local";
    yield* distributedRounds(datasets, links, { ...common, seeds });
  } else if (method !== "fedkm") {
    const { centroids, history } = methods[method](datasets, links, { k, alpha, seed });
    yield { ...history[history.length - 1], round: 0, centroids };
  } else if (scene.frozen.size === 0) {
    yield* fitRounds(datasets, links, { ...common, penalty, preset, schedule });
  } else {
    yield* withFrozen(datasets, links, scene, { ...common, penalty, preset });
  }
}

/** Core refuses a common start with these penalties: the devices would never leave it. */
function startOf({ start, penalty }: Setup): { init?: Init } {
  const isCommon = start === "auto" || start === "federated";
  if (start === "auto" || (penalty !== "squared" && isCommon)) return {};
  return { init: start === "aligned" ? "local" : start };
}

/** Rounds in which some devices do not update: all others do, one after the other. */
function* withFrozen(
  datasets: readonly Matrix[],
  links: Graph,
  { present, frozen }: Scene,
  options: Omit<Parameters<typeof fitRounds>[2], "schedule">,
): Generator<Round, void, void> {
  const turns = present.flatMap((device, at) => (frozen.has(device) ? [] : [[at]]));
  if (turns.length === 0) return;
  const schedule = Array.from({ length: MOST_ROUNDS * turns.length }, (_, t) => turns[t % turns.length]);
  let largestMove = 0;
  for (const step of fitRounds(datasets, links, { ...options, rounds: schedule.length, schedule })) {
    largestMove = Math.max(largestMove, step.largestMove);
    if (step.round % turns.length !== 0) continue;
    const { centroids } = step;
    yield { ...step, centroids, round: step.round / turns.length, largestMove };
    // A whole round without a move: nothing is going to happen any more.
    if (step.round > 0 && largestMove === 0) return;
    largestMove = 0;
  }
}
