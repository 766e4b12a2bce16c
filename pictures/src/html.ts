// HTML pages that stand alone: no script, no font, no picture from elsewhere; and a user's text is never markup.

import { darkRules, themeVariables } from "./palette.ts";

/** Text as it stands in HTML, also between quotes. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/** A whole page, light or dark as the reader prefers, light in print. `body` is markup. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>
${themeVariables()}
${darkRules()}
${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Text, or markup that says so. */
export type Cell = string | { readonly html: string };

export interface Table {
  readonly heading: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
  /** So many columns at the left are names; figures stand at the right of theirs. */
  readonly names: number;
}

/** Characters. A longer name is a sentence, which may break but needs room to do so. */
const LONG_NAME = 30;

/** Scrolls by itself where the page is too narrow for it. */
export function htmlTable({ heading, rows, names }: Table): string {
  const line = (cells: readonly Cell[], isHeading: boolean) => {
    const marked = cells.map((cell, i) => {
      const [tag, scope] = isHeading ? ["th", ' scope="col"'] : i === 0 ? ["th", ' scope="row"'] : ["td", ""];
      const markup = typeof cell === "string" ? escaped(cell) : cell.html;
      const isLong = typeof cell === "string" && cell.length > LONG_NAME;
      const name = i < names ? ` class="name${isLong ? " long" : ""}"` : "";
      return `<${tag}${scope}${name}>${markup}</${tag}>`;
    });
    return `<tr>${marked.join("")}</tr>`;
  };
  const body = rows.map((cells) => line(cells, false)).join("\n");
  return `<div class="wide"><table>\n<thead>${line(heading, true)}</thead>\n<tbody>\n${body}\n</tbody>\n</table></div>`;
}

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
.long { min-width: 16rem; overflow-wrap: anywhere; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
.bar { display: inline-block; min-width: 84px; padding: 0 4px; background: linear-gradient(to right, var(--bar) var(--share), transparent 0); }
figure { margin: 0; }
svg { display: block; max-width: 100%; height: auto; font-family: system-ui, sans-serif; color: var(--ink); }
.wide > svg { max-width: none; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 0 32px; }
.side > * { min-width: 0; }
/* Wider than the text, so that two pictures stand side by side. */
.pictures { display: flex; flex-wrap: wrap; justify-content: center; gap: 24px; width: min(1400px, 100vw - 40px); position: relative; left: 50%; transform: translateX(-50%); }
details { margin: 32px 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--bar); padding: 12px; font-size: 13px; }
footer { border-top: 1px solid var(--faint); padding-top: 12px; font-size: 13px; }
@media print {
  main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  .wide, pre { overflow: visible; }
  .pictures { width: auto; left: 0; transform: none; }
}
`;
