// What the page and its worker say to each other, packed so that nothing is copied twice.

import type { Matrix } from "@fedkm/core";
import type { Setup } from "./setup.ts";
import type { Moment } from "./story.ts";

/** A run that makes all earlier ones void. */
export interface Beginning {
  readonly run: number;
  readonly setup: Setup;
  readonly own: readonly Matrix[];
}

/** The page asks for a run, then for moments of the last one. */
export type EngineRequest = Beginning | { readonly upTo: number };

export interface PackedProblem {
  /** Of each device, its points in the plane of the screen, x and y in turn. */
  readonly plane: readonly Float64Array[];
  readonly datasets: readonly Matrix[];
  readonly pooled: Matrix;
  /** Two directions in the space of the points, and what they are centred by; absent where points have two columns. */
  readonly axes?: { readonly means: Float64Array; readonly axes: readonly Float64Array[] };
}

/** A moment with all centroids in one array, k rows for each of `devices`. */
export interface PackedMoment extends Omit<Moment, "devices" | "centroids" | "clusters" | "links" | "discrepancies"> {
  readonly devices: Uint32Array;
  readonly centroids: Float64Array;
  readonly clusters: Uint8Array;
  /** Two ends for each link. */
  readonly links: Uint32Array;
  readonly discrepancies: Float64Array;
}

/** `side` is 0 for the method of the setup and 1 for the one beside it. The first reply of a run has its problem. */
export type EngineReply =
  | {
      readonly run: number;
      readonly side: number;
      readonly moments: readonly PackedMoment[];
      readonly isEnded: boolean;
      readonly problem: PackedProblem | undefined;
    }
  | { readonly run: number; readonly refusal: string };

export function momentMessage(moment: Moment): PackedMoment {
  const { devices, centroids, clusters, links, discrepancies } = moment;
  return {
    ...moment,
    devices: Uint32Array.from(devices),
    centroids: joined(centroids.map(({ data }) => data)),
    clusters: Uint8Array.from(joined(clusters)),
    links: Uint32Array.from({ length: 2 * links.length }, (_, at) => links[at >> 1][(at & 1) as 0 | 1]),
    discrepancies: Float64Array.from(discrepancies),
  };
}

function joined(parts: readonly ArrayLike<number>[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function messageBuffers({ devices, centroids, clusters, links, discrepancies }: PackedMoment): ArrayBuffer[] {
  return [devices, centroids, clusters, links, discrepancies].map(({ buffer }) => buffer as ArrayBuffer);
}
