// How the method came there, for those who ask: the run, the network and its disagreement, objective and GTV by round.

import {
  axisTicks,
  domainOf,
  drawNetwork,
  drawNetworkKey,
  escaped,
  faint,
  labelSize,
  lineStyle,
  strokeOptions,
  svgPart,
} from "@fedkm/pictures";
import { dot, gridY, line, plot } from "@observablehq/plot";
import { isModelShared, type Model, modelEndWords, modelRunWords } from "../model/model.ts";
import { counted, countLabel, significantLabel } from "../numbers.ts";

// How the run went: objective and total variation after every round.

const WIDTH = 460;
const HEIGHT = 240;
const margins = { marginTop: 20, marginRight: 20, marginBottom: 40 };
const style = lineStyle("fedkm");

/** Values that span more than this are seen better on a log axis. */
const SPREAD = 20;

function drawCurve(document: Document, history: Model["history"], of: "objective" | "totalVariation"): Element {
  const y = domainOf(history.map((round) => round[of]));
  const isLog = y[0] > 0 && y[1] > SPREAD * y[0];
  const length = HEIGHT - margins.marginTop - margins.marginBottom;
  const up = axisTicks({ domain: y, length, spacing: isLog ? "decades" : "linear", direction: "up" });
  const x = domainOf(history.map(({ round }) => round));
  const width = WIDTH - up.room - margins.marginRight;
  const across = axisTicks({ domain: x, length: width, spacing: "linear", direction: "across", whole: true });
  const at = { x: "round", y: of } as const;
  return plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    ...margins,
    marginLeft: up.room,
    style: { fontSize: `${labelSize}px` },
    x: { label: "round", labelAnchor: "center", labelArrow: "none", domain: x, ...across.axis },
    y: { type: isLog ? "log" : "linear", domain: y, ...up.axis, insetBottom: 6, tickSize: 0, label: null },
    marks: [
      gridY(up.axis.ticks, { stroke: faint, strokeOpacity: 0.7 }),
      line(history, { ...at, ...strokeOptions(style) }),
      dot(history.length === 1 ? history : history.slice(-1), { ...at, r: 3, fill: style.stroke }),
    ],
  });
}

export function methodSection(document: Document, model: Model): string {
  const { options, links, scaling, objective, devices } = model;
  const { name, pull } = modelRunWords(model);
  const who = options.weighting === "sample" || isModelShared(model) ? "row" : "device";
  const facts = [
    `${name}, ${pull}, every ${who} counts the same, graph ${options.graph}, scale ${scaling.kind}, seed ${options.seed}`,
    `${modelEndWords(model)} at objective ${significantLabel(objective, 4)}`,
    `${countLabel(model.messages)} messages, ${countLabel(model.bytes)} bytes between devices`,
  ];
  const loss =
    options.weighting === "sample"
      ? "Mean squared distance of a row to its centroid, times the number of devices"
      : "Mean squared distance to the centroids, summed over the devices";
  const units = scaling.kind === "none" ? "" : " Distances are measured on the scaled columns.";
  const network = `<section>
<h3>Disagreement on ${counted(links.length, "link")}</h3>
<p>The stronger the colour of a link, the farther apart are the centroids at its two ends (discrepancy d).${units}</p>
<figure>${networkFigure(document, model)}</figure>
</section>`;
  return `<p>${facts.map(escaped).join("<br>")}</p>
<div class="side">
${devices.length > 1 ? network : ""}
<section>
<h3>Objective</h3>
<p>${loss}, plus alpha times GTV.</p>
<figure>${svgPart(drawCurve(document, model.history, "objective"), "Objective by round")}</figure>
<h3>GTV</h3>
<p>Total disagreement between neighbours.</p>
<figure>${svgPart(drawCurve(document, model.history, "totalVariation"), "Total variation by round")}</figure>
</section>
</div>`;
}

const NETWORK_WIDTH = 460;

/** More devices or links than this are one dark disc, and a page that browsers open slowly. */
const MOST_LINKS = 5_000;
const MOST_DEVICES = 300;

function networkFigure(document: Document, { devices, links }: Model): string {
  if (links.length > MOST_LINKS || devices.length > MOST_DEVICES) {
    return `<p>A network of ${counted(devices.length, "device")} and ${counted(links.length, "link")} is too large to draw.</p>`;
  }
  const names = devices.map(({ name }) => name);
  const numbers = new Map(names.map((name, i) => [name, i]));
  const numberOf = (name: string) => numbers.get(name) ?? 0;
  const shown = links.map(({ devices: [from, to], disagreement }) => {
    return { ends: [numberOf(from), numberOf(to)] as const, disagreement };
  });
  const network = drawNetwork(document, { names, links: shown }, NETWORK_WIDTH);
  const disagreements = links.map(({ disagreement }) => disagreement);
  const key = svgPart(drawNetworkKey(document, disagreements), "Key to the colours of links");
  return `${svgPart(network, "The network of devices")}${links.length === 0 ? "" : key}`;
}
