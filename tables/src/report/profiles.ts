// What the clusters are: a card for each with its strongest traits, and all columns as a heat map.

import { escaped, type HtmlCell, htmlTable } from "@fedkm/pictures";
import type { FittedRows } from "../model/clusterSums.ts";
import type { Figure, Trait } from "../model/profile.ts";
import { counted, countLabel, percent, readableDate, readableValue, significantLabel } from "../numbers.ts";
import { NOTHING, nameMark, reportColour, reportDownload, reportMark, reportName } from "./marks.ts";

type Clusters = Pick<FittedRows["model"], "clusters">;

/** Differences from all rows, in their deviations, from which on a trait is named, and is strong. */
const NAMED = 0.4;
/** Where none is, weak ones are better than none: most rows are in such a cluster where a few are far from all others. */
const WEAK = 0.1;
const STRONG = 0.8;
const MOST_NAMED = 3;

/** A column that clusters explain less of than this waits until it is asked for, unless there are only a few. */
const TELLING = 0.05;
const FEWEST = 8;
/** More lines than these are a table that nobody reads; the others are in the file. */
const MOST_TELLING = 60;
const MOST_WEAK = 100;

export function clusterCards({ clusters }: Clusters, traits: readonly Trait[]): string {
  const all = clusters.reduce((sum, { rows }) => sum + rows, 0);
  const cards = clusters.map(({ rows, name }, c) => {
    const told = strongest(traits, c, NAMED);
    const said = (told.length > 0 ? told : strongest(traits, c, WEAK)).map((text) => `<li>${text}</li>`);
    const alike = clusters.length === 1 ? "It is all rows." : "It is like all rows in every column.";
    const none = rows === 0 ? "It has no rows." : alike;
    return `<div class="card" data-cluster="${c}" style="border-left-color:${reportColour(c)}">
<h2>${name === undefined ? `Cluster ${c}` : `${c} ${escaped(name)}`}</h2>
<p>${counted(rows, "row")}, ${percent(rows / all)} of all</p>
${said.length === 0 ? `<p>${none}</p>` : `<ul>${said.join("")}</ul>`}
</div>`;
  });
  return `<div class="cards">${cards.join("\n")}</div>`;
}

/** What sets a cluster apart by at least so many deviations, as markup. */
function strongest(traits: readonly Trait[], c: number, least: number): string[] {
  const lines = traits.flatMap(({ name, kind, middle, lines: own }) =>
    own.map(({ value: word, all, clusters }) => ({ name, kind, middle, word, all, own: clusters[c] })),
  );
  const told = lines.filter(({ own }) => own !== undefined && Math.abs(own.difference) >= least);
  // What a category has is plainer than what it lacks.
  const size = ({ kind, own }: (typeof told)[number]) => {
    const difference = own?.difference ?? 0;
    return kind === "categories" && difference < 0 ? -difference / 2 : Math.abs(difference);
  };
  const ordered = told.sort((a, b) => size(b) - size(a));
  const seen = new Set<string>();
  const once = ordered.filter(({ name }) => !seen.has(name) && seen.add(name));
  return once.slice(0, MOST_NAMED).map(({ name, kind, middle, word, all, own }) => {
    if (own === undefined) return "";
    // A tail may lift the mean of a cluster whose rows are lower.
    const [of, from, to] = middle === undefined ? ["", own.mean, all.mean] : [`${middle} `, own.middle, all.middle];
    const figures = (shown: (number: number) => string) =>
      `<span class="small">${of}${shown(from ?? Number.NaN)} against ${shown(to ?? Number.NaN)} in all rows</span>`;
    const isWeak = Math.abs(own.difference) < NAMED;
    if (kind === "categories") {
      const few = isWeak ? "a few " : "";
      return `<b>${few}${own.difference > 0 ? "more" : "fewer"}</b> ${nameMark(name)} ${nameMark(word ?? "")} ${figures(percent)}`;
    }
    const strength = Math.abs(own.difference) >= STRONG ? "much " : isWeak ? "a little " : "";
    const [more, less] = kind === "date" ? ["later", "earlier"] : ["higher", "lower"];
    return `<b>${strength}${own.difference > 0 ? more : less}</b> ${nameMark(name)} ${figures(shownAs(kind))}`;
  });
}

const steps = [0.3, 0.8, 1.5];

function shade(difference: number): string {
  const step = steps.filter((least) => Math.abs(difference) >= least).length;
  return step === 0 ? "" : `${difference > 0 ? "higher" : "lower"}-${step}`;
}

/** Columns as lines, clusters as columns: means over spreads, and the ground says how far from all rows. */
export function profileTable({ clusters }: Clusters, traits: readonly Trait[]): string {
  // One cluster is told apart from nothing.
  const isOne = clusters.length === 1;
  const telling = traits.filter(({ strength }, i) => isOne || strength >= TELLING || i < FEWEST);
  const weak = traits.slice(telling.length);
  const hidden = weak.length - MOST_WEAK;
  const folded = `<details><summary>${counted(weak.length, "column")} that ${weak.length === 1 ? "tells" : "tell"} the clusters hardly apart</summary>${heatTable(
    { clusters },
    weak.slice(0, MOST_WEAK),
  )}${hidden > 0 ? `<p>${countLabel(hidden)} more are in the file.</p>` : ""}</details>`;
  return `${isOne ? "" : key()}${heatTable({ clusters }, telling.slice(0, MOST_TELLING))}
${telling.length > MOST_TELLING ? `<p>${countLabel(telling.length - MOST_TELLING)} more are in the file.</p>` : ""}
${reportDownload("profiles.csv", profileRows({ clusters }, traits))}
${weak.length > 0 ? folded : ""}`;
}

function heatTable({ clusters }: Clusters, traits: readonly Trait[]): string {
  const rows = traits.flatMap((trait): HtmlCell[][] => {
    const [name, explained] = [nameMark(trait.name), percent(trait.strength)];
    return [
      ...(trait.kind === "categories" ? [[{ html: name }, ...clusters.map(() => ""), "", explained]] : []),
      ...trait.lines.map(({ value: word, all, clusters: own }) => [
        { html: word === undefined ? name : `<span class="part">${nameMark(word)}</span>` },
        ...own.map((figure, c) => figureCell(figure, trait, c)),
        figureCell(all, trait),
        word === undefined ? explained : "",
      ]),
    ];
  });
  const heading: HtmlCell[] = [
    "column",
    ...clusters.map((_, c) => ({ html: reportMark({ clusters }, c), attributes: `data-cluster="${c}"` })),
    "all rows",
    "explained",
  ];
  const sizes: HtmlCell[] = [
    "rows",
    ...clusters.map(({ rows: own }, c) => ({ html: countLabel(own), attributes: `data-cluster="${c}"` })),
    countLabel(clusters.reduce((sum, own) => sum + own.rows, 0)),
    "",
  ];
  return htmlTable({ heading, rows: [sizes, ...rows], names: 1, kind: "heat" });
}

function figureCell(figure: Figure | undefined, trait: Trait, cluster?: number): HtmlCell {
  const { kind } = trait;
  const own = cluster === undefined ? "" : ` data-cluster="${cluster}"`;
  if (figure === undefined) return { html: NOTHING, attributes: own.trim() };
  const { mean, difference } = figure;
  const arrow = Math.abs(difference) < steps[1] ? "" : difference > 0 ? " ▲" : " ▼";
  const html =
    kind === "categories"
      ? `${percent(mean)}${arrow}`
      : `${shownAs(kind)(mean)}${arrow}<span class="small">${spread(figure, trait)}</span>`;
  const title = `${difference < 0 ? "−" : "+"}${significantLabel(Math.abs(difference), 2)} deviations from all rows`;
  const ground = cluster === undefined ? "" : ` class="${shade(difference)}" title="${title}"`;
  return { html, attributes: `${own}${ground}`.trim() };
}

/** Around the mean, or on the scale of a transformed column. */
function spread({ middle, low, high }: Figure, { kind, middle: name }: Trait): string {
  const shown = shownAs(kind);
  if (middle === undefined) return `± ${deviation((high - low) / 2)}${kind === "date" ? " days" : ""}`;
  return `${name} ${shown(middle)}, ${shown(low)} to ${shown(high)}`;
}

const shownAs = (kind: Trait["kind"]) => (kind === "date" ? readableDate : readableValue);

/** Two digits: hundreds of rows know no more of it. */
function deviation(number: number): string {
  return number >= 1e4 ? countLabel(Number(number.toPrecision(2))) : significantLabel(number, 2);
}

function key(): string {
  const swatch = (of: string) => `<span class="swatch ${of}"></span>`;
  const grounds = [3, 2, 1].map((step) => swatch(`lower-${step}`)).join("");
  const above = [1, 2, 3].map((step) => swatch(`higher-${step}`)).join("");
  return `<p class="key"><span>${grounds} lower than in all rows</span> <span>${above} higher than in all rows</span> <span>steps at ${steps.join(
    ", ",
  )} standard deviations, ▲ ▼ from ${steps[1]} on</span></p>`;
}

/** With all digits. */
function profileRows({ clusters }: Clusters, traits: readonly Trait[]) {
  const hasMiddles = traits.some(({ middle }) => middle !== undefined);
  const further = hasMiddles ? ["mean on the scale"] : [];
  const heading = ["column", "value", "cluster", "rows", "mean or share", "low", "high", "difference", ...further];
  const all = clusters.reduce((sum, { rows }) => sum + rows, 0);
  const figures = traits.flatMap(({ name, lines }) =>
    lines.flatMap(({ value: word, all: usual, clusters: own }) =>
      [usual, ...own].map((figure, at) => [
        name,
        word ?? null,
        at === 0 ? "all rows" : reportName({ clusters }, at - 1),
        at === 0 ? all : clusters[at - 1].rows,
        figure?.mean ?? null,
        figure?.low ?? null,
        figure?.high ?? null,
        figure?.difference ?? null,
        ...(hasMiddles ? [figure?.middle ?? null] : []),
      ]),
    ),
  );
  return [heading, ...figures];
}
