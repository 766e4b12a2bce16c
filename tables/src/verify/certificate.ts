// The certificate of a model: what a fit writes into it and what verification computes again.

import { type Certificate, certify, type Graph, type Matrix } from "@fedkm/core";
import { type Model, scaledCentroids } from "../model/model.ts";
import type { StudyPlan } from "../prepare/studyRows.ts";

type Certified = Pick<Model, "devices" | "scaling" | "options" | "history" | "study">;

/** On the centroids as they are written: the way to the user's units and back may cost their last bits. */
export function certifyModel(
  model: Certified,
  datasets: readonly Matrix[],
  graph: Graph,
  plan: StudyPlan | undefined,
): Certificate {
  const { alpha, coupling, penalty, method } = model.options;
  // Consensus counts every point the same, unless it is asked not to.
  const { weighting = method === "consensus" ? "sample" : undefined } = model.options;
  const centroids = model.devices.map((device) => scaledCentroids(device, model.scaling));
  // Devices of a study weigh rows by its typical rows. That only scales the objective.
  const scale = plan?.weightScale(datasets) ?? 1;
  const judged = {
    alpha: alpha / scale,
    ...(coupling && { coupling }),
    ...(weighting && { weighting }),
    ...(penalty && { penalty }),
  };
  const certificate = certify(datasets, graph, { centroids, history: model.history }, judged);
  return { ...certificate, objective: scale * certificate.objective };
}
