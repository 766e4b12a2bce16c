// What a device keeps of itself, for the next start to go on from.

import { toRows } from "@fedkm/core";
import type { Neighbour } from "./loop/neighbours.ts";
import type { OpeningSync } from "./loop/openingSync.ts";
import type { SavedState } from "./loop/savedState.ts";
import type { UpdateModel } from "./loop/updateModel.ts";

interface StateParts {
  /** The study's id. */
  readonly study: string;
  readonly model: UpdateModel;
  readonly gathering: OpeningSync;
  readonly neighbours: Iterable<Neighbour>;
}

export function savedPersonal({ study, model, gathering, neighbours }: StateParts): SavedState {
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
