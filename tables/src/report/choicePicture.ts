// The two curves of fedkm choose: clusters that are apart by k, loss of rows kept back by alpha.

import type { Choice } from "@fedkm/core";
import {
  axisTicks,
  compactLabel,
  domainOf,
  faint,
  labelSize,
  lineStyle,
  quiet,
  strokeOptions,
  textWidth,
} from "@fedkm/pictures";
import { blankPage } from "@fedkm/pictures/node";
import { dot, gridY, line, type Markish, plot, ruleX, ruleY, type ScaleOptions, text } from "@observablehq/plot";

const WIDTH = 960;
const HEIGHT = 420;
const PANEL = { width: 440, height: 300, marginTop: 20, marginRight: 20, marginBottom: 40 };
const LENGTH = PANEL.height - PANEL.marginTop - PANEL.marginBottom;
const style = lineStyle("fedkm");

/** The picture of a choice of k and alpha, as SVG. */
export function drawChoice(choice: Choice): string {
  const { k, alpha, clusters, coupling } = choice;
  // A device alone is not coupled to any.
  const hasLinks = choice.graph.size > 1;
  const title = hasLinks ? `k = ${k}, alpha = ${alpha}` : `k = ${k}`;
  const page = blankPage(hasLinks ? WIDTH : WIDTH / 2, HEIGHT, title);
  page.title(32, 40, title);
  page.heading(32, 76, "How many clusters");
  page.text(32, 94, "clusters with a gap to all neighbours; on the line all are");
  page.place(clusterCurve(page.document, clusters, choice.groups.length > 1), 16, 104);
  if (hasLinks) {
    page.heading(500, 76, "How strongly to couple");
    page.text(500, 94, "loss of rows kept back, with its standard error");
    page.place(couplingCurve(page.document, coupling), 484, 104);
  }
  return page.toString();
}

type Domain = readonly [number, number];

/** One of the curves over its grid. `across` is told how long its axis is. */
function panel(
  document: Document,
  { y, whole = false }: { readonly y: Domain; readonly whole?: boolean },
  across: (length: number) => ScaleOptions,
  marks: Markish[],
): Element {
  const up = axisTicks({ domain: y, length: LENGTH, spacing: "linear", direction: "up", whole });
  const x = across(PANEL.width - up.room - PANEL.marginRight);
  return plot({
    document,
    ...PANEL,
    marginLeft: up.room,
    style: { fontSize: `${labelSize}px` },
    x: { labelAnchor: "center", labelArrow: "none", ...x },
    y: { label: null, domain: y, ...up.axis, insetBottom: 8, tickSize: 0 },
    marks: [gridY(up.axis.ticks, { stroke: faint, strokeOpacity: 0.7 }), ...marks],
  });
}

function clusterCurve(document: Document, { curve, fitted }: Choice["clusters"], isGrouped: boolean): Element {
  const at = { x: "k", y: "clusters" } as const;
  const domain = domainOf(curve.map((score) => score.k));
  const across = (length: number) => {
    const ticks = axisTicks({ domain, length, spacing: "linear", direction: "across", most: 12, whole: true });
    return { label: "k", domain, ...ticks.axis };
  };
  return panel(document, { y: domainOf([0, ...curve.map(({ clusters }) => clusters)]), whole: true }, across, [
    line(
      [domain[0], Math.max(...curve.map(({ clusters }) => clusters))].map((all) => [all, all]),
      { stroke: quiet, strokeDasharray: "2,4" },
    ),
    line(curve, { ...at, ...strokeOptions(style) }),
    dot(curve, { ...at, r: 3, fill: ({ clusters }) => (clusters > 0 ? style.stroke : "white"), stroke: style.stroke }),
    ...chosen(fitted, `k = ${fitted}${isGrouped ? " in all groups together" : ""}`, 2 * fitted > domain[0] + domain[1]),
  ]);
}

/** Alphas are spread by ratios, with 0 among them: they stand side by side instead of on a scale. */
function couplingCurve(document: Document, { curve, alpha }: Choice["coupling"]): Element {
  const at = { x: "alpha", y: "loss" } as const;
  const [low, high] = [-1, 1].map((sign) => ({ loss, standardError }: (typeof curve)[number]) => {
    return loss + sign * standardError;
  });
  const alphas = curve.map((score) => score.alpha);
  const widest = Math.max(...alphas.map((value) => textWidth(compactLabel(value))));
  const across = (length: number): ScaleOptions => {
    const every = Math.ceil(((widest + 8) * alphas.length) / length);
    const ticks = alphas.filter((_, i) => i % every === 0);
    return { type: "point", label: "alpha", domain: alphas, ticks, tickFormat: compactLabel };
  };
  return panel(document, { y: domainOf(curve.flatMap((score) => [low(score), high(score)])) }, across, [
    ruleX(curve, { x: "alpha", y1: low, y2: high, stroke: quiet }),
    line(curve, { ...at, ...strokeOptions(style) }),
    dot(curve, { ...at, r: 3, fill: style.stroke }),
    ruleY([Math.min(...curve.map(({ loss }) => loss))], { stroke: quiet, strokeDasharray: "2,4" }),
    ...chosen(alpha, `alpha = ${compactLabel(alpha)}`, 2 * alphas.indexOf(alpha) > alphas.length - 1),
  ]);
}

/** A line at the chosen value, named on the side where there is more room. */
function chosen(value: number, name: string, isRight: boolean): Markish[] {
  const side = isRight ? ({ dx: -6, textAnchor: "end" } as const) : ({ dx: 6, textAnchor: "start" } as const);
  return [
    ruleX([value], { stroke: style.stroke, strokeOpacity: 0.35 }),
    text([name], { x: [value], frameAnchor: "top", dy: -14, ...side, fill: style.name }),
  ];
}
