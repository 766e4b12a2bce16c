// Links from a file: an edge list (CSV or TSV), GraphML, or JSON. Devices go by their names; a stranger is named. And the
// bounds of columns, from lines of column,least,most.

import { likelyDelimiter } from "../csv/dialect.ts";
import { allRecords } from "../csv/records.ts";
import { textOf } from "../source/bytes.ts";
import { type TextBytes, wholeText } from "../source/feed.ts";
import { DataError, type FilePosition, listInRefusal, shownInRefusal } from "../source/refusal.ts";
import type { Opener } from "../source/source.ts";

interface NamedLink {
  readonly ends: readonly [string, string];
  readonly weight?: string;
  /** Where it stands in the file, if that has lines. */
  readonly line?: number;
}

/** The numbers of two devices, and the weight of their link. */
export type WeightedLink = readonly [number, number, number];

export async function readLinksFormat(open: Opener, names: readonly string[]): Promise<WeightedLink[]> {
  const text = await wholeText(open);
  const seen = new Set<string>();
  return parse(text, names).map((link) => {
    const position = { file: text.file, ...(link.line !== undefined && { line: link.line }) };
    const [i, j] = link.ends.map((name) => numberOf(name, names, position));
    const [first, second] = link.ends.map((name) => JSON.stringify(name));
    if (i === j) throw new DataError(position, "link two devices", `${first} with itself`, "remove the link");
    const key = `${Math.min(i, j)} ${Math.max(i, j)}`;
    if (seen.has(key))
      throw new DataError(position, "name each link once", `${first} and ${second} again`, "remove one");
    seen.add(key);
    return [i, j, weightOf(link.weight, position)];
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
      const position = { file: text.file, line };
      throw new DataError(
        position,
        "be two device names and perhaps a weight",
        `${cells.length} cells`,
        "fix the line",
      );
    }
    const [from, to, weight] = cells;
    return { ends: [from, to], line, ...(weight !== undefined && weight !== "" && { weight }) };
  });
}

function numberOf(name: string, names: readonly string[], position: FilePosition): number {
  const number = names.indexOf(name);
  if (number < 0) {
    const known = `the devices are ${listInRefusal(names)}`;
    throw new DataError(position, "name devices of the input", JSON.stringify(name), known);
  }
  return number;
}

function weightOf(text: string | undefined, position: FilePosition): number {
  if (text === undefined) return 1;
  const weight = Number(text);
  if (text.trim() === "" || !(weight > 0) || !Number.isFinite(weight)) {
    throw new DataError(position, "have a weight above 0", JSON.stringify(text), "fix the weight or remove the link");
  }
  return weight;
}

/** [["a", "b", 2], ...], or an object with such "edges", or the node-link form of graph libraries. */
function jsonLinks(file: string, text: string): NamedLink[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    throw new DataError({ file }, "be JSON", got, "fix the file");
  }
  const links = Array.isArray(value) ? value : (field(value, "edges") ?? field(value, "links"));
  if (!Array.isArray(links)) {
    const rule = 'be a list of links, or an object with "edges" or "links"';
    throw new DataError({ file }, rule, "neither", 'write [["a", "b"], ...]');
  }
  return links.map((link: unknown, at) => {
    const [from, to, weight] = Array.isArray(link)
      ? link
      : [field(link, "source"), field(link, "target"), field(link, "weight")];
    if (!isName(from) || !isName(to)) {
      const remedy = 'write ["a", "b"] or {"source": "a", "target": "b"}';
      const got = `${JSON.stringify(link)} as link ${at + 1}`;
      throw new DataError({ file }, "hold links between two names", got, remedy);
    }
    const hasWeight = weight !== undefined && weight !== null;
    return { ends: [String(from), String(to)], ...(hasWeight && { weight: String(weight) }) };
  });
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function isName(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** Nodes by id or by a key called name or label, edges with a key called weight. */
function graphmlLinks(file: string, text: string): NamedLink[] {
  // Entities of a document type can be made to grow without bound.
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) {
    throw new DataError({ file, line: 1 }, "have no document type", "<!DOCTYPE or <!ENTITY", "remove it");
  }
  const keys = new Map<string, string>();
  const names = new Map<string, string>();
  const links: { ends: [string, string]; weight?: string; line: number }[] = [];
  let node: string | undefined;
  let isInEdge = false;
  for (const tag of tags(file, text)) {
    const { id = "", source, target, key = "" } = tag.attributes;
    if (tag.name === "key" && !tag.isEnd) keys.set(id, tag.attributes["attr.name"] ?? id);
    if (tag.name === "node") {
      if (!tag.isEnd) names.set(id, id);
      node = tag.isEnd || tag.isEmpty ? undefined : id;
    }
    if (tag.name === "edge") {
      if (!tag.isEnd) {
        if (source === undefined || target === undefined) {
          const position = { file, line: tag.line };
          throw new DataError(position, "be an edge with source and target", "one without", "fix the edge");
        }
        links.push({ ends: [source, target], line: tag.line });
      }
      isInEdge = !tag.isEnd && !tag.isEmpty;
    }
    if (tag.name === "data" && !tag.isEnd) {
      const meaning = (keys.get(key) ?? key).toLowerCase();
      if (node !== undefined && (meaning === "name" || meaning === "label")) names.set(node, tag.text.trim());
      const link = links.at(-1);
      if (isInEdge && meaning === "weight" && link !== undefined) link.weight = tag.text.trim();
    }
  }
  const nameOf = (id: string) => names.get(id) ?? id;
  return links.map(({ ends: [from, to], ...rest }) => ({ ends: [nameOf(from), nameOf(to)], ...rest }));
}

/** With the text behind each, up to the next tag. */
function* tags(file: string, text: string) {
  const content = text.replaceAll(/<!--[\s\S]*?-->/g, (comment) => comment.replaceAll(/[^\n]/g, " "));
  let line = 1;
  let counted = 0;
  for (const match of content.matchAll(
    /<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>([^<]*)/g,
  )) {
    line += content.slice(counted, match.index).split("\n").length - 1;
    counted = match.index;
    const [, end, name, words, empty, behind] = match;
    const attributes = Object.fromEntries(
      Array.from(words.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g), ([, key, double, single]) => [
        key,
        decoded(double ?? single),
      ]),
    );
    const local = name.replace(/^.*:/, "");
    yield { name: local, attributes, isEnd: end !== "", isEmpty: empty !== "", text: decoded(behind), line };
  }
  if (counted === 0) throw new DataError({ file, line: 1 }, "be GraphML", "no tags", "save the graph as GraphML");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replaceAll(/&(?:(amp|lt|gt|quot|apos)|#(\d+)|#x([\da-f]+));/gi, (_, name, decimal, hex) => {
    if (name !== undefined) return entities[name.toLowerCase()];
    return String.fromCodePoint(Math.min(0x10ffff, decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)));
  });
}

/** The least and the largest value that a column may have. */
export interface ColumnBounds {
  readonly least: number;
  readonly most: number;
}

/** The bounds of each of the columns, in their order. A first line whose bounds are no numbers is a header. */
export async function readBoundsFile(open: Opener, columns: readonly string[]): Promise<ColumnBounds[]> {
  const text = await wholeText(open);
  const { file } = text;
  const bounds = new Map<string, ColumnBounds>();
  for (const [at, { cells, line }] of allRecords(text, likelyDelimiter(text)).entries()) {
    const [column, ...ends] = cells.map((cell) => cell.trim());
    const [least, most] = ends.map((end) => (end === "" ? Number.NaN : Number(end)));
    if (at === 0 && ends.length === 2 && Number.isNaN(least) && Number.isNaN(most)) continue;
    if (ends.length !== 2 || !(least < most) || !Number.isFinite(most - least)) {
      const rule = "have a least and a larger most value";
      throw new DataError({ file, line, column }, rule, shownInRefusal(cells.join(",")), "fix the line");
    }
    bounds.set(column, { least, most });
  }
  return columns.map((column) => {
    const own = bounds.get(column);
    if (own === undefined) {
      throw new DataError({ file, column }, "have a line", "none", `add ${column},least,most`);
    }
    return own;
  });
}
