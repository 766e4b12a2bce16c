// What the tests of a device share: a study of the paper's data, and a network that only writes down what it is sent.

import { type Graph, type Matrix, type PaperKind, paperData } from "@fedkm/core";
import type { NetworkListener, PeerNetwork } from "../src/environment.ts";
import { contractOf, parseStudy, type Study } from "../src/study/study.ts";
import type { Contract } from "../src/wire/frames.ts";
import type { CentroidsContent, OpeningTag } from "../src/wire/studyFrames.ts";

export const studyText = `name: planes
k: 3
features:
  - { name: x1, unit: m, min: -30, max: 30 }
  - { name: x2, unit: m, min: -30, max: 30 }
alpha: 1
privacy: open
minimum: 1
`;

export function studyWith(changes: Partial<Study> = {}): Study {
  return { ...parseStudy(studyText), ...changes };
}

/** Why this is no study. */
export function refusalOf(text: string): string {
  try {
    parseStudy(text);
    return "nothing";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Of a device that knows no sketch. */
export const noTag: OpeningTag = { number: 0, table: 0, start: 0 };

/** What a frame of these centroids says. */
export function said(numbers: readonly number[], present: readonly boolean[], tag = noTag): CentroidsContent {
  return { tag, centroids: Float64Array.from(numbers), present, sketches: [] };
}

export interface Problem {
  readonly study: Study;
  readonly contract: Contract;
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  readonly seed: number;
}

export async function problem(kind: PaperKind, graph: Graph, seed: number, changes?: Partial<Study>): Promise<Problem> {
  const study = studyWith(changes);
  const { datasets } = paperData(kind, graph.size, 100, seed);
  return { study, contract: await contractOf(study), datasets, graph, seed };
}

/** A network without anyone in it: the test is the neighbour. */
export function emptyNetwork() {
  const sent: { peer: string; frame: Uint8Array }[] = [];
  let listener: NetworkListener | undefined;
  const network: PeerNetwork = {
    self: "own",
    start: async (started) => {
      listener = started;
    },
    send: (peer, frame) => sent.push({ peer, frame }),
    close: async () => {},
  };
  return {
    network,
    sent,
    get listener(): NetworkListener {
      if (listener === undefined) throw new Error("the device must be started first");
      return listener;
    },
  };
}
