// What a device keeps of itself, for the next start to go on from.

import { toRows } from "@fedkm/core";
import type { Gathering } from "./gathering.ts";
import type { SavedState } from "./memory.ts";
import type { Model } from "./model.ts";
import type { Neighbour } from "./neighbour.ts";

interface Parts {
  /** The study's id. */
  readonly study: string;
  readonly model: Model;
  readonly gathering: Gathering;
  readonly neighbours: Iterable<Neighbour>;
}

export function stateOf({ study, model, gathering, neighbours }: Parts): SavedState {
  const { centroids, present, round } = model;
  return {
    study,
    round,
    centroids: centroids === undefined ? [] : toRows(centroids),
    present,
    ...gathering.saved(),
    own: model.savedOwn(),
    neighbours: Array.from(neighbours).flatMap(({ peer, guard: { last }, seed, centroids: heard }) =>
      last === undefined || heard === undefined ? [] : [{ peer, ...last, seed, centroids: toRows(heard) }],
    ),
  };
}
