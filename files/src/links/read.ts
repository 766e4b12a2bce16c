// Links from a file: an edge list (CSV or TSV), GraphML, or JSON. Devices go by their names; a stranger is named.

import { likelyDelimiter } from "../csv/delimiter.ts";
import { allRecords, type TextBytes } from "../csv/records.ts";
import { DataError, listed, type Place } from "../refusal.ts";
import type { Opener } from "../source.ts";
import { textOf } from "../text.ts";
import { wholeText } from "../whole.ts";
import { graphmlLinks } from "./graphml.ts";
import { jsonLinks } from "./json.ts";
import type { NamedLink } from "./link.ts";

/** The numbers of two devices, and the weight of their link. */
export type Edge = readonly [number, number, number];

export async function linksOf(open: Opener, names: readonly string[]): Promise<Edge[]> {
  const text = await wholeText(open);
  const seen = new Set<string>();
  return parse(text, names).map((link) => {
    const place = { file: text.file, ...(link.line !== undefined && { line: link.line }) };
    const [i, j] = link.ends.map((name) => numberOf(name, names, place));
    const [first, second] = link.ends.map((name) => JSON.stringify(name));
    if (i === j) throw new DataError(place, "link two devices", `${first} with itself`, "remove the link");
    const key = `${Math.min(i, j)} ${Math.max(i, j)}`;
    if (seen.has(key)) throw new DataError(place, "name each link once", `${first} and ${second} again`, "remove one");
    seen.add(key);
    return [i, j, weightOf(link.weight, place)];
  });
}

function parse(bytes: TextBytes, names: readonly string[]): NamedLink[] {
  const { file } = bytes;
  const text = textOf(bytes.bytes, 0, bytes.length);
  if (/\.(graphml|xml)(\.gz)?$/i.test(file) || /^\s*<(\?xml|graphml)/.test(text)) return graphmlLinks(file, text);
  if (/\.json(\.gz)?$/i.test(file) || /^\s*[[{]/.test(text)) return jsonLinks(file, text);
  return listedLinks(bytes, names);
}

/** Lines of two names and perhaps a weight; a first line that has neither a device nor a weight is a header. */
function listedLinks(text: TextBytes, names: readonly string[]): NamedLink[] {
  const records = allRecords(text, likelyDelimiter(text))
    .map(({ cells, line }) => ({ cells: cells.map((cell) => cell.trim()), line }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const isHeader = ([from, to, weight = ""]: readonly string[]) =>
    !names.includes(from) && !names.includes(to) && (weight === "" || Number.isNaN(Number(weight)));
  const body = records.length > 1 && isHeader(records[0].cells) ? records.slice(1) : records;
  return body.map(({ cells, line }) => {
    if (cells.length < 2 || cells.length > 3) {
      const place = { file: text.file, line };
      throw new DataError(place, "be two device names and perhaps a weight", `${cells.length} cells`, "fix the line");
    }
    const [from, to, weight] = cells;
    return { ends: [from, to], line, ...(weight !== undefined && weight !== "" && { weight }) };
  });
}

function numberOf(name: string, names: readonly string[], place: Place): number {
  const number = names.indexOf(name);
  if (number < 0) {
    const known = `the devices are ${listed(names)}`;
    throw new DataError(place, "name devices of the input", JSON.stringify(name), known);
  }
  return number;
}

function weightOf(text: string | undefined, place: Place): number {
  if (text === undefined) return 1;
  const weight = Number(text);
  if (text.trim() === "" || !(weight > 0) || !Number.isFinite(weight)) {
    throw new DataError(place, "have a weight above 0", JSON.stringify(text), "fix the weight or remove the link");
  }
  return weight;
}
