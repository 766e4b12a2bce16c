// When private rows are released a second time: around the centroids at which the network has come to rest.

import type { UpdateModel } from "../loop/updateModel.ts";
import { HEARTBEAT_MILLISECONDS, RELEASE_MILLISECONDS, RELEASE_PATIENCE_MILLISECONDS } from "../pace.ts";

/**
 * Makes the second release if it is due. A network that never rests must not keep a device from its better answer, so it
 * is made wherever the centroids are after some patience. Returns the milliseconds after which to look again: nothing
 * else may wake a device that has come to rest.
 */
export function followReleases(model: UpdateModel, sinceStart: number, isOpening: () => boolean): number {
  model.followReleases();
  const { centroids } = model;
  if (model.private?.awaitsCentroids !== true || centroids === undefined) return Number.POSITIVE_INFINITY;
  const least = RELEASE_MILLISECONDS - sinceStart;
  if (least > 0) return least;
  const patience = least + RELEASE_PATIENCE_MILLISECONDS;
  const isAtRest = !model.isMoving && !isOpening();
  if (!isAtRest && patience > 0) return Math.min(patience, HEARTBEAT_MILLISECONDS);
  model.private.releaseAround(centroids);
  return Number.POSITIVE_INFINITY;
}
