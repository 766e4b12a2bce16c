// When private rows are released a second time: around the centroids at which the network has come to rest.

import type { Model } from "../model.ts";
import { RELEASE_MILLISECONDS, RELEASE_PATIENCE_MILLISECONDS } from "../pace.ts";

/**
 * Makes the second release if it is due. A network that never rests must not keep a device from its better answer, so it
 * is made wherever the centroids are after some patience. Returns the milliseconds after which to look again.
 */
export function followReleases(model: Model, sinceStart: number, isOpening: () => boolean): number {
  model.followReleases();
  const { centroids } = model;
  if (model.private?.awaitsCentroids !== true || centroids === undefined) return Number.POSITIVE_INFINITY;
  const isAtRest = !model.isMoving && !isOpening();
  const wait = RELEASE_MILLISECONDS + (isAtRest ? 0 : RELEASE_PATIENCE_MILLISECONDS) - sinceStart;
  if (wait <= 0) model.private.releaseAround(centroids);
  return wait > 0 ? wait : Number.POSITIVE_INFINITY;
}
