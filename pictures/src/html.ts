// HTML pages that stand alone: no script, font or picture from elsewhere; and a user's text is never markup.

import { style } from "./htmlStyle.ts";
import { darkRules, themeVariables } from "./palette.ts";

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
${themeVariables()}
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
export type Cell = string | { readonly html: string; readonly attributes?: string };

export interface Table {
  readonly heading: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
  /** So many columns at the left are names; figures stand at the right of theirs. */
  readonly names: number;
  /** Classes of the table. */
  readonly kind?: string;
}

/** Characters. A longer name is a sentence, which may break but needs room to do so. */
const LONG_NAME = 30;

/** Scrolls by itself where the page is too narrow for it. */
export function htmlTable({ heading, rows, names, kind }: Table): string {
  const line = (cells: readonly Cell[], isHeading: boolean) => {
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
  return `<div class="wide"><table${kind === undefined ? "" : ` class="${kind}"`}>\n<thead>${line(heading, true)}</thead>\n<tbody>\n${body}\n</tbody>\n</table></div>`;
}
