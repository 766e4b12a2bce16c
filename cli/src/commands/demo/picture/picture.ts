// The demo in one picture: the devices, their network, and the way to agreement.
/// <reference lib="dom" />

import { edges, type FitModel, totalVariation } from "@fedkm/core";
import { blankPage } from "@fedkm/pictures";
import { significant } from "../../../numbers.ts";
import type { Comparison } from "../comparison.ts";
import { drawCurves } from "./curves.ts";
import { drawNetwork } from "./network.ts";
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

  const links = Array.from(edges(problem.graph)).length;
  const mean = ({ centroids }: FitModel) => significant(totalVariation(centroids, problem.graph) / links, 2);
  const { network, key } = drawNetwork(page.document, comparison);
  page.heading(LEFT, LOWER, `Disagreement on the ${links} links`);
  page.text(LEFT, LOWER + 20, "Darker: the two ends are farther apart");
  page.place(network, LEFT, LOWER + 36);
  page.place(key, LEFT, LOWER + 346);
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
