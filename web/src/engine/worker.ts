// The worker of the playground: it makes the problem, and moments of its runs as the page asks for them.

import { type Matrix, stack } from "@fedkm/core";
import { principalAxes } from "@fedkm/pictures";
import { buffersOf, type PackedMoment, type PackedProblem, packed, type Reply, type Request } from "./messages.ts";
import { type Problem, problemOf } from "./problem.ts";
import type { Setup } from "./setup.ts";
import { type Moment, story } from "./story.ts";

interface Side {
  readonly moments: Generator<Moment, void, void>;
  made: number;
  isEnded: boolean;
}

let current = 0;
let sides: Side[] = [];

function reply(message: Reply, transfer: ArrayBuffer[] = []): void {
  postMessage(message, { transfer });
}

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  try {
    if ("setup" in data) begin(data.run, data.setup, data.own);
    else if (data.run === current) advance(data.upTo);
  } catch (error) {
    reply({ run: data.run, refusal: error instanceof Error ? error.message : String(error) });
  }
});

function begin(run: number, setup: Setup, own: readonly Matrix[]): void {
  current = run;
  sides = [];
  const problem = problemOf(setup, own);
  reply({ run, problem: packedProblem(problem) });
  const methods = setup.versus === "none" ? [setup.method] : [setup.method, setup.versus];
  sides = methods.map((method) => ({ moments: story(problem, setup, method), made: 0, isEnded: false }));
}

/** Moments of every side until each has this many, or has ended. All of a side go in one message. */
function advance(upTo: number): void {
  sides.forEach((side, number) => {
    const moments: PackedMoment[] = [];
    while (!side.isEnded && side.made < upTo) {
      const next = side.moments.next();
      side.isEnded = next.done === true;
      if (next.done) break;
      side.made++;
      moments.push(packed(next.value));
    }
    reply({ run: current, side: number, moments, isEnded: side.isEnded }, moments.flatMap(buffersOf));
  });
}

function packedProblem({ datasets, pooled }: Problem): PackedProblem {
  if (pooled.cols === 2) return { datasets, pooled, plane: datasets.map(({ data }) => data.slice()) };
  if (pooled.cols === 1) return { datasets, pooled, plane: datasets.map(raised) };
  const axes = principalAxes(stack(datasets), 2);
  return { datasets, pooled, axes, plane: datasets.map((points) => projected(points, axes.means, axes.axes)) };
}

/** Points on a line, drawn at heights that only keep them apart. */
function raised({ data, rows }: Matrix): Float64Array {
  return Float64Array.from({ length: 2 * rows }, (_, at) => (at % 2 === 0 ? data[at / 2] : ((at * 0.618) % 1) - 0.5));
}

function projected({ data, rows, cols }: Matrix, means: Float64Array, axes: readonly Float64Array[]): Float64Array {
  return Float64Array.from({ length: 2 * rows }, (_, at) => {
    const row = Math.floor(at / 2) * cols;
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (data[row + x] - means[x]) * axes[at % 2][x];
    return sum;
  });
}
