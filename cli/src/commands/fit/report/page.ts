// report.html: one page that stands alone: no script, no font, no picture from elsewhere.
/// <reference lib="dom" />

import { count, drawKey, drawNetwork, escaped, htmlPage, significant, svgPart } from "@fedkm/pictures";
import { blankDocument } from "@fedkm/pictures/node";
import type { Fitted } from "../../../model/fitted.ts";
import type { Model } from "../../../model/model.ts";
import { drawCurve } from "./curves.ts";
import { drawProjection } from "./projection.ts";
import { clusterTable, deviceTables, meanTables, sizesTable } from "./tables.ts";

/** A longer list of devices waits until it is asked for. */
const LONG_LIST = 30;

export function reportPage(fitted: Fitted): string {
  const { model, warnings } = fitted;
  const document = blankDocument();
  const { options, devices, links, scaling, rounds, converged, objective } = model;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const { drawing, caption } = drawProjection(document, fitted);
  const title = `${counted(options.k, "cluster")} of ${counted(rows, "row")} on ${counted(devices.length, "device")}`;
  const facts = [
    `${model.study === undefined ? options.method : `simulated devices of study ${JSON.stringify(model.study.name)}`}, alpha = ${options.alpha}, every ${options.weighting === "sample" ? "row" : "device"} counts the same, graph ${options.graph}, scale ${scaling.kind}, seed ${options.seed}`,
    `${converged ? "settled" : "stopped"} after ${counted(rounds, "round")} at objective ${significant(objective, 4)}`,
    `${count(model.messages)} messages, ${count(model.bytes)} bytes between devices`,
  ];
  const units = scaling.kind === "none" ? "" : " Distances are measured on the scaled columns.";
  const body = `<h1>${escaped(title)}</h1>
<p>${facts.map(escaped).join("<br>")}</p>
${warnings.length > 0 ? `<ul class="warnings">${warnings.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>` : ""}
<h2>Clusters</h2>
<p>${escaped(aboutClusters(fitted))}</p>
${clusterTable(model)}
<h2>Rows and their clusters</h2>
<p>${escaped(caption)}</p>
<figure class="wide">${svgPart(drawing, "Rows as points in the colours of their clusters")}</figure>
<h2>Devices</h2>
${devices.length > LONG_LIST ? `<details><summary>Rows of all ${count(devices.length)} devices</summary>${sizesTable(model)}</details>` : sizesTable(model)}
<div class="side">
<section>
<h2>Disagreement on ${counted(links.length, "link")}</h2>
<p>The stronger the colour of a link, the farther apart are the centroids at its two ends (discrepancy d).${units}</p>
<figure>${networkFigure(document, model)}</figure>
</section>
<section>
<h2>Objective</h2>
<p>${options.weighting === "sample" ? "Mean squared distance of a row to its centroid, times the number of devices" : "Mean squared distance to the centroids, summed over the devices"}, plus alpha times GTV.</p>
<figure>${svgPart(drawCurve(document, model.history, "objective"), "Objective by round")}</figure>
<h2>GTV</h2>
<p>Total disagreement between neighbours.</p>
<figure>${svgPart(drawCurve(document, model.history, "totalVariation"), "Total variation by round")}</figure>
</section>
</div>
${devices.length > 1 ? `<details><summary>Means of the rows of every device</summary>${meanTables(fitted)}</details>` : ""}
<details>
<summary>Centroids of every device</summary>
${deviceTables(model)}
</details>
<footer>This page shows rows as points: show it only to those who may see the rows. The model is in model.json, the labelled files are in labels/.</footer>`;
  return htmlPage(title, body);
}

/** What the table is, and no more than is so. */
function aboutClusters({ model: { columns, devices }, numbersAgree }: Fitted): string {
  const means = `Means of the rows in each cluster, in the units of your ${counted(columns.length, "column")}.`;
  if (devices.length === 1) return means;
  const apart =
    "Places apart: how far the means of single places typically are from these, beyond chance, where 1 is as far as " +
    "rows are from their mean. The farthest place is named, with its distance.";
  const numbers = numbersAgree ? " Cluster numbers mean the same on every device." : "";
  return `${means} ${apart}${numbers}`;
}

function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

const NETWORK_WIDTH = 460;

/** More links than this are one dark disc, and a page that browsers open slowly. */
const MOST_LINKS = 5_000;

function networkFigure(document: Document, { devices, links }: Model): string {
  if (links.length > MOST_LINKS) return `<p>A network of ${count(links.length)} links is too large to draw.</p>`;
  const names = devices.map(({ name }) => name);
  const numbers = new Map(names.map((name, i) => [name, i]));
  const numberOf = (name: string) => numbers.get(name) ?? 0;
  const shown = links.map(({ devices: [from, to], disagreement }) => {
    return { ends: [numberOf(from), numberOf(to)] as const, disagreement };
  });
  const network = drawNetwork(document, { names, links: shown }, NETWORK_WIDTH);
  const disagreements = links.map(({ disagreement }) => disagreement);
  const key = svgPart(drawKey(document, disagreements), "Key to the colours of links");
  return `${svgPart(network, "The network of devices")}${links.length === 0 ? "" : key}`;
}
