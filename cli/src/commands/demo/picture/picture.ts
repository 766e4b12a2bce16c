// The demo in one picture: the devices, their network, and the way to agreement.
/// <reference lib="dom" />

import { discrepancy, edges, type FitModel, totalVariation } from "@fedkm/core";
import { drawKey, drawNetwork, significant } from "@fedkm/pictures";
import { blankPage } from "@fedkm/pictures/node";
import type { Comparison } from "../comparison.ts";
import { drawCurves } from "./curves.ts";
import { drawPanels } from "./panels.ts";

const WIDTH = 1000;
const HEIGHT = 970;
const LEFT = 44;
const MIDDLE = 400;
const LOWER = 562;

const title = "Ten devices agree on three clusters by sending centroids to neighbours";

/** The whole picture as an SVG file. The same comparison gives the same bytes. */
export function drawPicture(comparison: Comparison): string {
  const { problem, results } = comparison;
  const page = blankPage(WIDTH, HEIGHT, title);
  page.title(LEFT, 44, title);
  page.text(
    LEFT,
    70,
    `One panel per device (seed ${problem.seed}): points in the colours of its own clusters, ` +
      "crosses for its centroids, rings for those of its neighbours.",
  );
  page.place(drawPanels(page.document, comparison), 0, 90);

  const { centroids } = results.fedkm.model;
  const links = Array.from(edges(problem.graph), ([i, j]) => {
    return { ends: [i, j] as const, disagreement: discrepancy(centroids[i], centroids[j]) };
  });
  const mean = (model: FitModel) => significant(totalVariation(model.centroids, problem.graph) / links.length, 2);
  const names = centroids.map((_, device) => String(device + 1));
  page.heading(LEFT, LOWER, `Disagreement on the ${links.length} links`);
  page.text(LEFT, LOWER + 20, "Stronger colour: the two ends are farther apart");
  page.place(drawNetwork(page.document, { names, links }, 300), LEFT, LOWER + 36);
  const disagreements = links.map(({ disagreement }) => disagreement);
  page.place(drawKey(page.document, disagreements), LEFT, LOWER + 346);
  page.label(
    LEFT,
    LOWER + 392,
    `discrepancy d; mean ${mean(results.fedkm.model)}, at the start ${mean(results.local.model)}`,
  );

  page.heading(MIDDLE, LOWER, "Distance to the pooled solution");
  page.text(MIDDLE, LOWER + 20, "GCD, a mean squared distance, on a log axis (pooled itself is at 0)");
  page.place(drawCurves(page.document, comparison), MIDDLE, LOWER + 30);
  return page.toString();
}
