// How the method came there, for those who ask: the run, the network and its disagreement, objective and GTV by round.

import { drawKey, drawNetwork, escaped, svgPart } from "@fedkm/pictures";
import { isShared, type Model } from "../../../model/model.ts";
import { count, counted, significant } from "../../../numbers.ts";
import { endWords, ranWords } from "../ran.ts";
import { drawCurve } from "./curves.ts";

export function methodSection(document: Document, model: Model): string {
  const { options, links, scaling, objective, devices } = model;
  const { name, pull } = ranWords(model);
  const who = options.weighting === "sample" || isShared(model) ? "row" : "device";
  const facts = [
    `${name}, ${pull}, every ${who} counts the same, graph ${options.graph}, scale ${scaling.kind}, seed ${options.seed}`,
    `${endWords(model)} at objective ${significant(objective, 4)}`,
    `${count(model.messages)} messages, ${count(model.bytes)} bytes between devices`,
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
    return `<p>A network of ${counted(devices.length, "place")} and ${counted(links.length, "link")} is too large to draw.</p>`;
  }
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
