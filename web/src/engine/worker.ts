// The worker of the playground: it makes the problem, and moments of its runs as the page asks for them.

import { type Matrix, stack } from "@fedkm/core";
import { principalAxes, projectOnAxes } from "@fedkm/pictures";
import {
  type Beginning,
  type EngineReply,
  type EngineRequest,
  messageBuffers,
  momentMessage,
  type PackedMoment,
  type PackedProblem,
} from "./messages.ts";
import { type Moment, type PlaygroundData, playgroundData, story } from "./story.ts";

interface Side {
  readonly moments: Generator<Moment, void, void>;
  made: number;
  isEnded: boolean;
}

let current = 0;
let sides: Side[] = [];
/** What was asked for and is not done yet: a new run, and up to which moment. */
let asked: Beginning | undefined;
let upTo = 0;
let isWaiting = false;
let isGuarded = false;
const GUARDED =
  "Guarded devices send nothing about fewer than ten rows: choose open privacy, fewer devices or clusters, or more points.";

// Nothing is done at once: of all that a reader asks for while the worker is busy, only the last is still wanted.
addEventListener("message", ({ data }: MessageEvent<EngineRequest>) => {
  if ("setup" in data) [asked, upTo] = [data, 0];
  else upTo = data.upTo;
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(work);
});

function reply(message: EngineReply, transfer: ArrayBuffer[] = []): void {
  postMessage(message, { transfer });
}

function work(): void {
  isWaiting = false;
  try {
    if (asked !== undefined) begin(asked);
    for (const side of sides.keys()) advance(side, upTo);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    reply({ run: current, refusal: isGuarded ? `${words}. ${GUARDED}` : words });
  }
}

/** The problem goes with the first moment of every side: a page can be drawn from it while others are made. */
function begin({ run, setup, own }: Beginning): void {
  asked = undefined;
  current = run;
  isGuarded = setup.privacy === "guarded";
  sides = [];
  const problem = problemFor(setup, own);
  const methods = setup.versus === "none" ? [setup.method] : [setup.method, setup.versus];
  sides = methods.map((method) => ({ moments: story(problem, setup, method), made: 0, isEnded: false }));
  const first = packedProblem(problem);
  for (const side of sides.keys()) advance(side, 1, side === 0 ? first : undefined);
}

/** Moments of a side until it has this many, or has ended, in one message. */
function advance(number: number, most: number, problem?: PackedProblem): void {
  const side = sides[number];
  const moments: PackedMoment[] = [];
  while (!side.isEnded && side.made < most) {
    const next = side.moments.next();
    side.isEnded = next.done === true;
    if (next.done) break;
    side.made++;
    moments.push(momentMessage(next.value));
  }
  reply({ run: current, side: number, moments, isEnded: side.isEnded, problem }, moments.flatMap(messageBuffers));
}

/** The last problem, by what it was made of: turning alpha needs no other one. */
let last: { readonly madeOf: string; readonly problem: PlaygroundData } | undefined;

function problemFor(setup: Beginning["setup"], own: readonly Matrix[]): PlaygroundData {
  const { data, devices, points, graph, density, k, seed } = setup;
  const madeOf = JSON.stringify({ data, devices, points, graph, density, k, seed });
  // The reader's own points are sent with every run, and may be others.
  if (last === undefined || last.madeOf !== madeOf || data === "own")
    last = { madeOf, problem: playgroundData(setup, own) };
  return last.problem;
}

function packedProblem({ datasets, pooled }: PlaygroundData): PackedProblem {
  if (pooled.cols === 2) return { datasets, pooled, plane: datasets.map(({ data }) => data.slice()) };
  if (pooled.cols === 1) return { datasets, pooled, plane: datasets.map(raised) };
  const axes = principalAxes(stack(datasets), 2);
  return { datasets, pooled, axes, plane: datasets.map((points) => projectOnAxes(points.data, axes)) };
}

/** Points on a line, drawn at heights that only keep them apart. */
function raised({ data, rows }: Matrix): Float64Array {
  return Float64Array.from({ length: 2 * rows }, (_, at) => (at % 2 === 0 ? data[at / 2] : ((at * 0.618) % 1) - 0.5));
}
