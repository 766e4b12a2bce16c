// HTML pages that stand alone: no script, font or picture from elsewhere; and a user's text is never markup.

import { darkRules, paletteVariables } from "./palette.ts";

/** Text as it stands in HTML, also between quotes. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/** Whatever is on the page, nothing is fetched and nothing is sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/** A whole page, light or dark as the reader prefers, light in print. `body` is markup, `script` may be left out. */
export function htmlPage(title: string, body: string, script?: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>
${paletteVariables()}
${darkRules()}
${style}</style>
</head>
<body>
<main>
${body}
</main>${script === undefined ? "" : `\n<script>${script}</script>`}
</body>
</html>
`;
}

/** Text, or markup that says so, with attributes of the cell if there are any. */
export type HtmlCell = string | { readonly html: string; readonly attributes?: string };

interface HtmlTable {
  readonly heading: readonly HtmlCell[];
  readonly rows: readonly (readonly HtmlCell[])[];
  /** So many columns at the left are names; figures stand at the right of theirs. */
  readonly names: number;
  readonly kind?: string;
}

/** Characters. A longer name is a sentence, which may break but needs room to do so. */
const LONG_NAME = 30;

/** Scrolls by itself where the page is too narrow for it, also by the arrows of a keyboard. */
export function htmlTable({ heading, rows, names, kind }: HtmlTable): string {
  const line = (cells: readonly HtmlCell[], isHeading: boolean) => {
    const marked = cells.map((cell, i) => {
      const [tag, scope] = isHeading ? ["th", ' scope="col"'] : i === 0 ? ["th", ' scope="row"'] : ["td", ""];
      const markup = typeof cell === "string" ? escaped(cell) : cell.html;
      const isLong = typeof cell === "string" && cell.length > LONG_NAME;
      const name = i < names ? ` class="name${isLong ? " long" : ""}"` : "";
      const own = typeof cell === "string" || cell.attributes === undefined ? "" : ` ${cell.attributes}`;
      return `<${tag}${scope}${name}${own}>${markup}</${tag}>`;
    });
    return `<tr>${marked.join("")}</tr>`;
  };
  const body = rows.map((cells) => line(cells, false)).join("\n");
  return `<div class="wide" tabindex="0"><table${kind === undefined ? "" : ` class="${kind}"`}>\n<thead>${line(heading, true)}</thead>\n<tbody>\n${body}\n</tbody>\n</table></div>`;
}

/** The one style sheet: text, tables, cards, bars and figures, on screens of any width and in print. */
const style = `body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 32px 20px 48px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 8px; }
h2 { font-size: 17px; margin: 32px 0 4px; }
h3 { font-size: 15px; margin: 20px 0 4px; }
h1, h2, h3, p, li, summary { overflow-wrap: anywhere; }
p, footer { color: var(--quiet); margin: 0 0 12px; }
.warnings { border-left: 3px solid var(--alarm); margin: 16px 0; padding: 4px 0 4px 28px; }
.wide, pre { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 14px 4px 0; text-align: right; border-bottom: 1px solid var(--faint); font-weight: 400; white-space: nowrap; vertical-align: top; }
thead th { font-weight: 600; white-space: normal; vertical-align: bottom; }
.name { text-align: left; max-width: 34rem; white-space: normal; }
/* Words beside figures, which stay on their line. */
.words { text-align: left; white-space: nowrap; }
.long { min-width: 16rem; overflow-wrap: anywhere; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
.bar { display: inline-block; min-width: 84px; padding: 0 4px; background: linear-gradient(to right, var(--bar) var(--share), transparent 0); }
figure { margin: 0; }
svg { display: block; max-width: 100%; height: auto; font-family: system-ui, sans-serif; color: var(--ink); }
.wide > svg { max-width: none; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 0 32px; }
.side > * { min-width: 0; }
/* Small multiples: as many beside each other as fit. */
.multiples { margin-bottom: 12px; display: flex; flex-wrap: wrap; gap: 8px 16px; }
/* Wider than the text, so that two pictures stand side by side. */
.pictures { display: flex; flex-wrap: wrap; justify-content: center; gap: 24px; width: min(1400px, 100vw - 40px); position: relative; left: 50%; transform: translateX(-50%); }
/* What a page answers, before any detail of it. */
.answer { color: var(--ink); font-size: 17px; max-width: 46rem; }
.key { font-size: 13px; display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(280px, 100%), 1fr)); gap: 12px; margin: 20px 0; }
.card { border: 1px solid var(--faint); border-left: 6px solid; border-radius: 4px; padding: 10px 14px; }
.card h2 { margin: 0; font-size: 15px; overflow-wrap: anywhere; }
.card p { margin: 0 0 6px; }
.card ul { margin: 0; padding: 0; list-style: none; }
.card li { padding: 2px 0; overflow-wrap: anywhere; }
.card .small { display: block; line-height: 1.3; }
.small { font-size: 13px; color: var(--quiet); }
/* A figure over how it spreads, on a ground that says how unusual it is. */
.heat th, .heat td { vertical-align: middle; border: 0; }
.heat td { padding: 4px 10px; border: 2px solid var(--paper); min-width: 4.6rem; }
.heat th.name { padding-right: 14px; min-width: 6.5rem; max-width: 16rem; overflow-wrap: break-word; }
/* What a line is about stays in view where a wide table is scrolled. */
.heat th.name, .sortable th.name:first-child { position: sticky; left: 0; background: var(--paper); }
.heat .part { padding-left: 18px; }
.heat .small { display: block; line-height: 1.2; }
.lower-1 { background: var(--lower-1); } .lower-2 { background: var(--lower-2); } .lower-3 { background: var(--lower-3); }
.higher-1 { background: var(--higher-1); } .higher-2 { background: var(--higher-2); } .higher-3 { background: var(--higher-3); }
.lower-1 .small, .lower-2 .small, .lower-3 .small, .higher-1 .small, .higher-2 .small, .higher-3 .small { color: var(--ink); }
.parts { display: inline-flex; width: 150px; height: 12px; vertical-align: middle; }
.parts > span { display: block; height: 100%; }
.sortable thead th { cursor: pointer; }
.sortable thead th[aria-sort="ascending"]::after { content: " ▲"; font-size: 9px; }
.sortable thead th[aria-sort="descending"]::after { content: " ▼"; font-size: 9px; }
.dim { opacity: 0.16; }
[data-cluster] { transition: opacity 150ms; }
@media (prefers-reduced-motion: reduce) { [data-cluster] { transition: none; } }
.card.pick { cursor: pointer; }
.tip { position: fixed; z-index: 1; max-width: 320px; padding: 4px 8px; background: var(--ink); color: var(--paper); font-size: 13px; border-radius: 3px; pointer-events: none; }
.tools { font-size: 13px; }
.strip { width: 300px; max-width: 100%; }
.strip figcaption { font-weight: 600; overflow-wrap: anywhere; }
.found { margin: 0 0 12px; padding: 0; list-style: none; }
.found li { padding: 4px 0; overflow-wrap: anywhere; }
.found li:first-child { font-weight: 600; }
.find input { font: inherit; margin: 0 8px; padding: 4px 8px; color: var(--ink); background: var(--paper); border: 1px solid var(--quiet); border-radius: 3px; }
.circled { stroke: var(--ink); stroke-width: 3; fill-opacity: 1; }
a { color: var(--link-4); }
details { margin: 32px 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--bar); padding: 12px; font-size: 13px; }
footer { border-top: 1px solid var(--faint); padding-top: 12px; font-size: 13px; }
@media (max-width: 600px) { .long { min-width: 9rem; } ul { padding-left: 20px; } }
@page { margin: 14mm; }
@media print {
  main { max-width: none; padding: 0; }
  h2, h3, h2 + p, .key { break-after: avoid; }
  .key + .wide { break-before: avoid; }
  figure:not(.multiples), svg, tr { break-inside: avoid; }
  .multiples > svg:not(:only-child) { max-width: 48%; }
  .multiples:has(> :nth-child(3)) > svg { max-width: 31%; }
  .wide, pre { overflow: visible; }
  .pictures { width: auto; left: 0; transform: none; }
  .tools { display: none; }
  .strip { break-inside: avoid; }
  table { font-size: 12px; }
  .heat td { min-width: 0; padding: 3px 6px; }
  .parts { width: 100px; }
  .wide > svg { max-width: 100%; }
  .card, .parts, .key { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
