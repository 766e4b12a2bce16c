// The two curves of fedkm choose: separation by k, loss of rows kept back by alpha.

import type { Choice } from "@fedkm/core";
import { blankPage, faint, labelSize, quiet } from "@fedkm/pictures";
import { dot, gridY, line, plot, ruleX, ruleY, text } from "@observablehq/plot";

const WIDTH = 960;
const HEIGHT = 420;
const PANEL = { width: 440, height: 300, marginLeft: 56, marginRight: 20, marginBottom: 40 };
const hue = "#0072B2";

export function drawChoice(choice: Choice): string {
  const { k, alpha, clusters, coupling } = choice;
  const page = blankPage(WIDTH, HEIGHT, `k = ${k}, alpha = ${alpha}`);
  page.title(32, 40, `k = ${k}, alpha = ${alpha}`);
  page.heading(32, 76, "How many clusters");
  page.text(32, 94, "separation of the two nearest clusters; dotted: what chance gives");
  page.place(clusterCurve(page.document, clusters), 16, 104);
  page.heading(500, 76, "How strongly to couple");
  page.text(500, 94, "loss of rows kept back, with its standard error");
  page.place(couplingCurve(page.document, coupling), 484, 104);
  return page.toString();
}

function clusterCurve(document: Document, { curve, k }: Choice["clusters"]): Element {
  const at = { x: "k", y: "separation" } as const;
  return plot({
    document,
    ...PANEL,
    style: { fontSize: `${labelSize}px` },
    x: {
      label: "k",
      labelAnchor: "center",
      labelArrow: "none",
      ticks: curve.map((score) => score.k),
      tickFormat: String,
    },
    y: { label: null, ticks: 5, tickSize: 0, zero: true },
    marks: [
      gridY({ ticks: 5, stroke: faint, strokeOpacity: 0.7 }),
      line(curve, { x: "k", y: "needed", stroke: quiet, strokeDasharray: "2,4" }),
      line(curve, { ...at, stroke: hue, strokeWidth: 2 }),
      dot(curve, { ...at, r: 3, fill: hue }),
      ruleX([k], { stroke: hue, strokeOpacity: 0.35 }),
      text([`k = ${k}`], { x: [k], frameAnchor: "top", dx: 6, dy: 4, textAnchor: "start", fill: hue }),
    ],
  });
}

/** Alphas are spread by ratios, with 0 among them: they stand side by side instead of on a scale. */
function couplingCurve(document: Document, { curve, alpha }: Choice["coupling"]): Element {
  const at = { x: "alpha", y: "loss" } as const;
  return plot({
    document,
    ...PANEL,
    style: { fontSize: `${labelSize}px` },
    x: {
      type: "point",
      label: "alpha",
      labelAnchor: "center",
      labelArrow: "none",
      domain: curve.map((score) => score.alpha),
    },
    y: { label: null, ticks: 5, tickSize: 0 },
    marks: [
      gridY({ ticks: 5, stroke: faint, strokeOpacity: 0.7 }),
      ruleX(curve, {
        x: "alpha",
        y1: ({ loss, standardError }) => loss - standardError,
        y2: ({ loss, standardError }) => loss + standardError,
        stroke: quiet,
      }),
      line(curve, { ...at, stroke: hue, strokeWidth: 2 }),
      dot(curve, { ...at, r: 3, fill: hue }),
      ruleY([Math.min(...curve.map(({ loss }) => loss))], { stroke: quiet, strokeDasharray: "2,4" }),
      ruleX([alpha], { stroke: hue, strokeOpacity: 0.35 }),
      text([`alpha = ${alpha}`], { x: [alpha], frameAnchor: "top", dx: 6, dy: 4, textAnchor: "start", fill: hue }),
    ],
  });
}
