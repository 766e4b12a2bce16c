// Words and marks that every part of the report uses: what a cluster is called, and a table as a file.

import { csvRecordLine } from "@fedkm/files";
import { clusterColours, escaped, shortenedLabel } from "@fedkm/pictures";
import type { FittedRows } from "../model/clusterSums.ts";

export const NOTHING = "–";

/** "cluster 2", or its number and its name. */
export function reportName({ clusters }: Pick<FittedRows["model"], "clusters">, c: number): string {
  const { name } = clusters[c];
  return name === undefined ? `cluster ${c}` : `${c} ${name}`;
}

export function reportColour(c: number): string {
  return `var(--cluster-${c % clusterColours.length})`;
}

/** A swatch and the number, with the name if there is one. */
export function reportMark({ clusters }: Pick<FittedRows["model"], "clusters">, c: number): string {
  const { name } = clusters[c];
  const swatch = `<span class="swatch" style="background:${reportColour(c)}"></span>`;
  return `${swatch}${c}${name === undefined ? "" : ` ${escaped(name)}`}`;
}

const LONGEST_NAME = 190;

/** A device or a column, shortened where it is a sentence; whole on hovering. */
export function nameMark(name: string): string {
  const shown = shortenedLabel(name, LONGEST_NAME);
  return shown === name ? escaped(name) : `<span title="${escaped(name)}">${escaped(shown)}</span>`;
}

/** A link that needs no script: the table is in it. */
export function reportDownload(file: string, rows: readonly (readonly (string | number | null)[])[]): string {
  const address = `data:text/csv;charset=utf-8,${encodeURIComponent(rows.map(csvRecordLine).join(""))}`;
  return `<p class="tools"><a download="${file}" href="${address}">This table as CSV</a></p>`;
}

/** Words with commas and a last "and". */
export function reportList(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
