// report.html: one page that stands alone: no font, script or picture from elsewhere, and nothing that needs a script.

import { escaped, htmlPage, svgPart } from "@fedkm/pictures";
import { clusterChoiceWords } from "../choose/choiceWords.ts";
import type { Stability } from "../fit/stability.ts";
import type { RowOrigin } from "../input/readTables.ts";
import type { FittedRows } from "../model/clusterSums.ts";
import { encodingOfModel, isModelAlone, modelRows } from "../model/model.ts";
import { profileTraits, type Trait } from "../model/profile.ts";
import { counted, percent } from "../numbers.ts";
import { deviceTable, reportDeviceSentence } from "./deviceTable.ts";
import { distributionPictures } from "./distributions.ts";
import { reportList, reportName } from "./marks.ts";
import { methodSection } from "./methodSection.ts";
import { type NetworkFigures, networkSection } from "./networkSection.ts";
import { clusterCards, profileTable } from "./profiles.ts";
import { drawProjection } from "./projection.ts";
import { listRows } from "./rowList.ts";
import { reportStabilitySentence, stabilitySection } from "./stabilityTable.ts";

// What a browser adds to the report: a cluster picked by its card, tables sorted by a click, hints without delay, rows found
// by a name, and nothing folded on paper. The page says all else without it.

const reportScript = `
"use strict";
const all = [...document.querySelectorAll("[data-cluster]")];
let picked = null;
function light(cluster) {
  for (const one of all) one.classList.toggle("dim", cluster !== null && one.dataset.cluster !== cluster);
}
for (const card of document.querySelectorAll(".card")) {
  const { cluster } = card.dataset;
  card.classList.add("pick");
  card.tabIndex = 0;
  card.setAttribute("role", "button");
  card.setAttribute("aria-pressed", "false");
  const pick = () => {
    picked = picked === cluster ? null : cluster;
    for (const other of document.querySelectorAll(".card")) {
      other.setAttribute("aria-pressed", String(other.dataset.cluster === picked));
    }
    light(picked);
  };
  card.addEventListener("click", pick);
  card.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick();
  });
  card.addEventListener("mouseenter", () => light(cluster));
  card.addEventListener("mouseleave", () => light(picked));
}
function keyOf(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text.replace(/[,<]/g, ""));
  return Number.isNaN(number) ? text : number;
}
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
      rows.sort((a, b) => {
        if (typeof a.key !== typeof b.key) return typeof a.key === "string" ? 1 : -1;
        const order = typeof a.key === "string" ? b.key.localeCompare(a.key) : b.key - a.key;
        return up ? -order : order;
      });
      body.append(...rows.map(({ row }) => row));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort();
    });
  });
}
const list = JSON.parse(document.getElementById("row-list").textContent);
function placeOf([file, number, name, device]) {
  const where = file < 0 ? "row " + number : "row " + number + " of " + list.files[file];
  const whose = list.devices.length > 1 ? ", " + list.devices[device] : "";
  return (name === "" ? where : name + " (" + where + ")") + whose;
}
function said(row) {
  const cells = list.columns.map((column, c) => column + " " + row[5 + c]);
  return placeOf(row) + ", cluster " + row[4] + ": " + cells.join(", ");
}
const find = document.querySelector(".find");
const found = document.querySelector(".found");
function circle(number) {
  for (const before of document.querySelectorAll(".circled")) before.classList.remove("circled");
  const mark = document.querySelector('[data-row="' + number + '"]');
  if (mark === null) return false;
  mark.classList.add("circled");
  mark.parentNode.append(mark);
  return true;
}
find.hidden = false;
find.querySelector("input").addEventListener("input", ({ target }) => {
  const asked = target.value.trim().toLowerCase();
  const fits = ([, number, name]) => [String(number), name.toLowerCase()];
  const at = [...list.rows.keys()];
  const exact = at.filter((r) => fits(list.rows[r]).includes(asked));
  const place = (r) => list.rows[r][2].toLowerCase().indexOf(asked);
  const partly = at.filter((r) => !exact.includes(r) && place(r) >= 0).sort((a, b) => place(a) - place(b));
  const shown = asked === "" ? [] : [...exact, ...partly].slice(0, 8);
  const lines = shown.map((r, i) => {
    const line = document.createElement("li");
    const text = said(list.rows[r]);
    line.textContent = i === 0 && circle(r) ? text + " (circled below)" : text;
    return line;
  });
  if (shown.length === 0) circle(-1);
  if (asked !== "" && shown.length === 0) {
    const none = document.createElement("li");
    none.textContent = "no row is called so";
    lines.push(none);
  }
  found.replaceChildren(...lines);
});
const folded = [...document.querySelectorAll("details:not([open])")];
addEventListener("beforeprint", () => folded.forEach((own) => own.setAttribute("open", "")));
addEventListener("afterprint", () => folded.forEach((own) => own.removeAttribute("open")));
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
document.addEventListener("mouseover", ({ target, clientX, clientY }) => {
  const one = target.closest("[title], [data-tip], [data-row]");
  tip.hidden = one === null;
  if (one === null) return;
  if (one.title) {
    one.dataset.tip = one.title;
    one.removeAttribute("title");
  }
  tip.textContent = one.dataset.row === undefined ? one.dataset.tip : said(list.rows[one.dataset.row]);
  const { width } = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(clientX + 12, innerWidth - width - 8)) + "px";
  tip.style.top = clientY + 18 + "px";
});
`;

// A report in three sentences: what was asked, what the clusters are, and how stable they are.

/** A column that clusters explain less of than this does not tell them apart. */
const TELLING = 0.1;

const scaledText: Readonly<Record<FittedRows["model"]["scaling"]["kind"], string>> = {
  none: "",
  standard: ", each scaled to deviation 1",
  robust: ", each scaled by its quartiles",
  minmax: ", each scaled to 0 ... 1",
  rank: ", each scaled by its ranks",
  log: ", some as logarithms, each scaled to deviation 1",
  bounds: ", each scaled by its bounds",
};

/** What was asked for. */
function titleOf(model: FittedRows["model"]): string {
  const { options, devices } = model;
  const where = devices.length > 1 ? ` on ${counted(devices.length, "device")}` : "";
  return `${counted(options.k, "cluster")} of ${counted(modelRows(model), "row")}${where}`;
}

function summarySentences({ model, chosen }: FittedRows, traits: readonly Trait[], stability: Stability): string[] {
  const { clusters } = model;
  const rows = modelRows(model);
  const columns = counted(encodingOfModel(model).length, "column");
  const asked =
    chosen === undefined
      ? `You asked for ${titleOf(model)} by ${columns}${scaledText[model.scaling.kind]}.`
      : `fedkm found ${titleOf(model)} by ${columns}${scaledText[model.scaling.kind]}. ${clusterChoiceWords(chosen)}`;
  const filled = clusters.filter((own) => own.rows > 0).length;
  const telling = traits.filter(({ strength }) => strength >= TELLING).slice(0, 3);
  const most = clusters.map((own) => own.rows / rows);
  const differ =
    telling.length === 0
      ? "no column tells them well apart"
      : `they differ most in ${reportList(telling.map(({ name }) => name))}`;
  const found =
    filled === 1
      ? "All rows are in one cluster."
      : `The largest is ${reportName(model, 0)} with ${percent(Math.max(...most))} of the rows, the smallest has ${percent(
          Math.min(...most.filter((share) => share > 0)),
        )}, and ${differ}.`;
  const sure = reportStabilitySentence(model, stability);
  return sure === undefined ? [asked, found] : [asked, found, sure];
}

/** What a report shows beside the fit itself. */
export interface ReportParts {
  /** Makes its elements: a page's own, or one of @fedkm/pictures/node. */
  readonly document: Document;
  readonly stability: Stability;
  /** Whether labelled files lie beside the page. */
  readonly labels: boolean;
  /** Of each device's rows; undefined: nobody looks for one of so many. */
  readonly origins?: readonly (readonly RowOrigin[])[] | undefined;
  /** Of a device whose network has validated the clusters. */
  readonly network?: NetworkFigures | undefined;
}

/** The report of a fit as one HTML page. */
export function reportPage(fitted: FittedRows, { document, stability, labels, origins, network }: ReportParts): string {
  const { model, warnings, sums } = fitted;
  const { options, devices } = model;
  const several = devices.length > 1;
  const title = titleOf(model);
  const traits = profileTraits(sums, model);
  const list = listRows(fitted, traits, origins);
  const { drawings, caption } = drawProjection(document, fitted, list.numberOf);
  const panels = drawings.map(({ drawing, of }) =>
    svgPart(drawing, `Rows${of === "" ? "" : ` of ${of}`} as points in the colours of their clusters`),
  );
  const alone = isModelAlone(model)
    ? " Each device stays alone, so these figures may add up rows that do not belong together."
    : "";
  const transformed = traits.some(({ middle }) => middle !== undefined)
    ? " A column that was clustered by its logarithms or ranks also has its mean on that scale, and its deviation there as a range."
    : "";
  const body = `<h1>${escaped(title)}</h1>
<p class="answer">${summarySentences(fitted, traits, stability).map(escaped).join(" ")}</p>
${warnings.length > 0 ? `<ul class="warnings">${warnings.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>` : ""}
${clusterCards(model, traits)}
<h2 id="profiles">Profiles</h2>
<p>Means of the rows in each cluster over their standard deviations, in your units${options.k > 1 ? ", the most telling columns first. Explained is the share of a column's variance that lies between the clusters" : ""}.${transformed}${alone}</p>
${profileTable(model, traits)}
${distributionPictures(fitted, traits, TELLING)}
${several ? `<h2 id="devices">Devices</h2>\n<p>${escaped(reportDeviceSentence(fitted))}</p>\n${deviceTable(fitted)}` : ""}
${network === undefined ? "" : `<h2 id="network">This device beside its network</h2>\n${networkSection(fitted, network)}`}
<h2 id="sure">How sure</h2>
${options.k > 1 ? stabilitySection(fitted, stability) : "<p>One cluster is all rows, whatever they are.</p>"}
<h2 id="rows">Rows</h2>
<p>${escaped(caption)}</p>
${list}
<figure class="multiples">${panels.join("")}</figure>
<details id="method"><summary>How the method came there</summary>
${methodSection(document, model)}
</details>
<footer>This page shows rows, as points and by their names: show it only to those who may see the rows. The model with the centroids of every device is in model.json${labels ? ", the labelled files are in labels/" : ""}.</footer>`;
  return htmlPage(title, body, reportScript);
}
