// The certificate of a model: what fedkm fit writes into it, and what fedkm verify computes again.

import { type Certificate, certify, type Graph, type Matrix } from "@fedkm/core";
import { weightScale } from "@fedkm/device";
import { type Model, scaledCentroids } from "./model.ts";

type Certified = Pick<Model, "devices" | "scaling" | "options" | "history" | "study">;

/** On the centroids as they are written: the way to the user's units and back may cost their last bits. */
export function certifyModel(model: Certified, datasets: readonly Matrix[], graph: Graph): Certificate {
  const { alpha, coupling, penalty, method } = model.options;
  // Consensus counts every point the same, unless it is asked not to.
  const { weighting = method === "consensus" ? "sample" : undefined } = model.options;
  const centroids = model.devices.map((device) => scaledCentroids(device, model.scaling));
  // Devices of a study weigh rows by its typical rows. That only scales the objective.
  const scale = model.study === undefined ? 1 : weightScale(model.study, datasets);
  const judged = {
    alpha: alpha / scale,
    ...(coupling && { coupling }),
    ...(weighting && { weighting }),
    ...(penalty && { penalty }),
  };
  const certificate = certify(datasets, graph, { centroids, history: model.history }, judged);
  return { ...certificate, objective: scale * certificate.objective };
}
