// report.html: one page that stands alone: no font, script or picture from elsewhere, and nothing that needs a script.

import { escaped, htmlPage, svgPart } from "@fedkm/pictures";
import type { Stability } from "../fit/stability.ts";
import { isAlone } from "../model/model.ts";
import type { FittedRows } from "../model/outcome.ts";
import { traitsOf } from "../model/profile.ts";
import { counted } from "../numbers.ts";
import { aboutDevices, deviceTable } from "./deviceTable.ts";
import { methodSection } from "./methodSection.ts";
import { clusterCards, profileTable } from "./profiles.ts";
import { drawProjection } from "./projection.ts";
import { reportScript } from "./script.ts";
import { stabilitySection } from "./stabilityTable.ts";
import { summarySentences } from "./summary.ts";

export interface ReportParts {
  /** Makes its elements: a page's own, or one of @fedkm/pictures/node. */
  readonly document: Document;
  readonly stability: Stability;
  /** Whether labelled files lie beside the page. */
  readonly labels: boolean;
}

export function reportPage(fitted: FittedRows, { document, stability, labels }: ReportParts): string {
  const { model, warnings, sums } = fitted;
  const { options, devices } = model;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const several = devices.length > 1;
  const title = `${counted(options.k, "cluster")} of ${counted(rows, "row")}${several ? ` on ${counted(devices.length, "device")}` : ""}`;
  const traits = traitsOf(sums, model);
  const { drawings, caption } = drawProjection(document, fitted);
  const panels = drawings.map(({ drawing, of }) =>
    svgPart(drawing, `Rows${of === "" ? "" : ` of ${of}`} as points in the colours of their clusters`),
  );
  const alone = isAlone(model)
    ? " Each device stays alone, so these figures may add up rows that do not belong together."
    : "";
  const body = `<h1>${escaped(title)}</h1>
<p class="answer">${summarySentences(fitted, traits, stability).map(escaped).join(" ")}</p>
${warnings.length > 0 ? `<ul class="warnings">${warnings.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>` : ""}
${clusterCards(model, traits)}
<h2 id="profiles">Profiles</h2>
<p>Means of the rows in each cluster over their standard deviations, in your units, the most telling columns first. Explained is the share of a column's variance that lies between the clusters.${alone}</p>
${profileTable(model, traits)}
${several ? `<h2 id="devices">Devices</h2>\n<p>${escaped(aboutDevices(fitted))}</p>\n${deviceTable(fitted)}` : ""}
<h2 id="sure">How sure</h2>
${options.k > 1 ? stabilitySection(fitted, stability) : "<p>One cluster is all rows, whatever they are.</p>"}
<h2 id="rows">Rows</h2>
<p>${escaped(caption)}</p>
<figure class="multiples">${panels.join("")}</figure>
<details id="method"><summary>How the method came there</summary>
${methodSection(document, model)}
</details>
<footer>This page shows rows as points: show it only to those who may see the rows. The model with the centroids of every device is in model.json${labels ? ", the labelled files are in labels/" : ""}.</footer>`;
  return htmlPage(title, body, reportScript);
}
