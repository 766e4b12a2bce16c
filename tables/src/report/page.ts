// report.html: one page that stands alone: no font, script or picture from elsewhere, and nothing that needs a script.
/// <reference lib="dom" />

import { escaped, htmlPage, svgPart } from "@fedkm/pictures";
import { blankDocument } from "@fedkm/pictures/node";
import { counted } from "../../../cli/src/numbers.ts";
import type { Sureness } from "../fit/stability.ts";
import { isAlone } from "../model/model.ts";
import type { Fitted } from "../model/outcome.ts";
import { traitsOf } from "../model/profile.ts";
import { aboutPlaces, placeTable } from "./deviceTable.ts";
import { methodSection } from "./methodSection.ts";
import { clusterCards, profileTable } from "./profiles.ts";
import { drawProjection } from "./projection.ts";
import { reportScript } from "./script.ts";
import { sureSection } from "./stabilityTable.ts";
import { answer } from "./summary.ts";

/** `labels` says whether labelled files lie beside the page. */
export function reportPage(fitted: Fitted, sure: Sureness, labels: boolean): string {
  const { model, warnings, sums } = fitted;
  const { options, devices } = model;
  const document = blankDocument();
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const several = devices.length > 1;
  const title = `${counted(options.k, "cluster")} of ${counted(rows, "row")}${several ? ` at ${counted(devices.length, "place")}` : ""}`;
  const traits = traitsOf(sums, model);
  const { drawings, caption } = drawProjection(document, fitted);
  const panels = drawings.map(({ drawing, of }) =>
    svgPart(drawing, `Rows${of === "" ? "" : ` of ${of}`} as points in the colours of their clusters`),
  );
  const alone = isAlone(model)
    ? " Each place stays alone, so these figures may add up rows that do not belong together."
    : "";
  const body = `<h1>${escaped(title)}</h1>
<p class="answer">${answer(fitted, traits, sure).map(escaped).join(" ")}</p>
${warnings.length > 0 ? `<ul class="warnings">${warnings.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>` : ""}
${clusterCards(model, traits)}
<h2 id="profiles">Profiles</h2>
<p>Means of the rows in each cluster over their standard deviations, in your units, the most telling columns first. Explained is the share of a column's variance that lies between the clusters.${alone}</p>
${profileTable(model, traits)}
${several ? `<h2 id="places">Places</h2>\n<p>${escaped(aboutPlaces(fitted))}</p>\n${placeTable(fitted)}` : ""}
<h2 id="sure">How sure</h2>
${options.k > 1 ? sureSection(fitted, sure) : "<p>One cluster is all rows, whatever they are.</p>"}
<h2 id="rows">Rows</h2>
<p>${escaped(caption)}</p>
<figure class="multiples">${panels.join("")}</figure>
<details id="method"><summary>How the method came there</summary>
${methodSection(document, model)}
</details>
<footer>This page shows rows as points: show it only to those who may see the rows. The model with the centroids of every place is in model.json${labels ? ", the labelled files are in labels/" : ""}.</footer>`;
  return htmlPage(title, body, reportScript);
}
