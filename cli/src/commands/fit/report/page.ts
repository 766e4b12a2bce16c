// report.html: one page that stands alone: no script, no font, no picture from elsewhere.
/// <reference lib="dom" />

import { escaped, roundCoordinates } from "@fedkm/pictures";
import { parseHTML } from "linkedom";
import type { Fitted } from "../../../model/fitted.ts";
import { count, significant } from "../../../numbers.ts";
import { drawCurve } from "./curves.ts";
import { drawNetwork } from "./network.ts";
import { drawProjection } from "./projection.ts";
import { style } from "./style.ts";
import { clusterTable, deviceTables, sizesTable } from "./tables.ts";

/** A longer list of devices waits until it is asked for. */
const LONG_LIST = 30;

export function reportPage(fitted: Fitted): string {
  const { model, warnings } = fitted;
  const { document } = parseHTML("<html></html>");
  const { options, devices, links, columns, scaling, rounds, converged, objective } = model;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const { drawing, caption } = drawProjection(document, fitted);
  const { network, key } = drawNetwork(document, model);
  const title = `${options.k} clusters of ${count(rows)} rows on ${count(devices.length)} ${devices.length === 1 ? "device" : "devices"}`;
  const facts = [
    `${options.method}, alpha = ${options.alpha}, graph ${options.graph}, scale ${scaling.kind}, seed ${options.seed}`,
    `${converged ? "settled" : "stopped"} after ${rounds} ${rounds === 1 ? "round" : "rounds"} at objective ${significant(objective, 4)}`,
    `${count(model.messages)} messages, ${count(model.bytes)} bytes between devices`,
  ];
  const units = scaling.kind === "none" ? "" : " Distances are measured on the scaled columns.";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${facts.map(escaped).join("<br>")}</p>
${warnings.length > 0 ? `<ul class="warnings">${warnings.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>` : ""}
<h2>Clusters</h2>
<p>Centroids in the units of your ${count(columns.length)} columns: the devices' mean, weighted by rows. Cluster numbers mean the same on every device.</p>
${clusterTable(model)}
<h2>Rows and their clusters</h2>
<p>${escaped(caption)}</p>
<figure class="wide">${svg(drawing, "Rows as points in the colours of their clusters")}</figure>
<h2>Devices</h2>
${devices.length > LONG_LIST ? `<details><summary>Rows of all ${count(devices.length)} devices</summary>${sizesTable(model)}</details>` : sizesTable(model)}
<div class="side">
<section>
<h2>Disagreement on ${count(links.length)} ${links.length === 1 ? "link" : "links"}</h2>
<p>Darker: the centroids at the two ends are farther apart (discrepancy d).${units}</p>
<figure class="light">${svg(network, "The network of devices")}${key === undefined ? "" : svg(key, "Key to the colours of links")}</figure>
</section>
<section>
<h2>Objective</h2>
<p>Mean squared distance to the centroids, summed over devices, plus alpha times GTV.</p>
<figure>${svg(drawCurve(document, model.history, "objective"), "Objective by round")}</figure>
<h2>GTV</h2>
<p>Total disagreement between neighbours.</p>
<figure>${svg(drawCurve(document, model.history, "totalVariation"), "Total variation by round")}</figure>
</section>
</div>
<details>
<summary>Centroids of every device</summary>
${deviceTables(model)}
</details>
<footer>This page shows rows as points: show it only to those who may see the rows. The model is in model.json, the labelled files are in labels/.</footer>
</main>
</body>
</html>
`;
}

/** A drawing of Plot as part of a page: named for screen readers, without a style sheet of its own. */
function svg(drawing: Element, name: string): string {
  for (const sheet of [...drawing.querySelectorAll("style")]) sheet.remove();
  for (const element of drawing.querySelectorAll("*")) roundCoordinates(element);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", name);
  return drawing.outerHTML;
}
