// Links from a file: an edge list (CSV or TSV), GraphML, or JSON. Devices go by their names; a stranger is named.

import { readFileSync } from "node:fs";
import { DataError } from "../refusal.ts";
import { graphmlLinks } from "./graphml.ts";
import { jsonLinks } from "./json.ts";

/** Two names and a weight, and where that stands in the file. */
export interface NamedLink {
  readonly ends: readonly [string, string];
  readonly weight?: string;
  readonly line?: number;
}

export type Edge = readonly [number, number, number];

export function readLinks(file: string, names: readonly string[]): Edge[] {
  const links = parse(file, textOf(file), names);
  const seen = new Map<string, NamedLink>();
  return links.map((link) => {
    const place = { file, ...(link.line !== undefined && { line: link.line }) };
    const [i, j] = link.ends.map((name) => numberOf(name, names, place));
    if (i === j) {
      throw new DataError(place, "link two devices", `${JSON.stringify(link.ends[0])} with itself`, "remove the link");
    }
    const key = `${Math.min(i, j)} ${Math.max(i, j)}`;
    if (seen.has(key)) {
      throw new DataError(
        place,
        "name each link once",
        `${link.ends.map((name) => JSON.stringify(name)).join(" and ")} again`,
        "remove one",
      );
    }
    seen.set(key, link);
    return [i, j, weightOf(link.weight, place)];
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const got = code === "ENOENT" ? "no such file" : (code ?? String(error));
    throw new DataError({ file }, "be a file that can be read", got, "check the path");
  }
}

function parse(file: string, text: string, names: readonly string[]): NamedLink[] {
  if (/\.(graphml|xml)$/i.test(file) || /^\s*<(\?xml|graphml)/.test(text)) return graphmlLinks(file, text);
  if (/\.json$/i.test(file) || /^\s*[[{]/.test(text)) return jsonLinks(file, text);
  return listedLinks(file, text, names);
}

/** Lines of two names and perhaps a weight; a first line that has neither a device nor a weight is a header. */
function listedLinks(file: string, text: string, names: readonly string[]): NamedLink[] {
  const delimiter = ["\t", ";", ","].find((mark) => text.split("\n", 1)[0].includes(mark)) ?? ",";
  const records = text
    .split("\n")
    .map((line, at) => ({ cells: cellsOf(line.replace(/\r$/, ""), delimiter), line: at + 1 }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const isHeader = ([from, to, weight = ""]: readonly string[]) =>
    !names.includes(from) && !names.includes(to) && (weight === "" || Number.isNaN(Number(weight)));
  const body = records.length > 1 && isHeader(records[0].cells) ? records.slice(1) : records;
  return body.map(({ cells, line }) => {
    if (cells.length < 2 || cells.length > 3) {
      throw new DataError(
        { file, line },
        "be two device names and perhaps a weight",
        `${cells.length} cells`,
        "mend the line",
      );
    }
    const [from, to, weight] = cells;
    return { ends: [from, to], line, ...(weight !== undefined && weight !== "" && { weight }) };
  });
}

function cellsOf(line: string, delimiter: string): string[] {
  const cell = /\s*(?:"((?:[^"]|"")*)"|([^"]*?))\s*$/;
  // Split outside of quotes.
  const parts = line.split(new RegExp(`${delimiter}(?=(?:[^"]*"[^"]*")*[^"]*$)`));
  return parts.map((part) => {
    const [, quoted, plain] = cell.exec(part) ?? [];
    return quoted?.replaceAll('""', '"') ?? plain ?? part.trim();
  });
}

function numberOf(name: string, names: readonly string[], place: { file: string; line?: number }): number {
  const number = names.indexOf(name);
  if (number < 0) {
    const known =
      names.length > 12 ? `${names.slice(0, 12).join(", ")} and ${names.length - 12} more` : names.join(", ");
    throw new DataError(place, "name devices of the input", JSON.stringify(name), `the devices are ${known}`);
  }
  return number;
}

function weightOf(text: string | undefined, place: { file: string; line?: number }): number {
  if (text === undefined) return 1;
  const weight = Number(text);
  if (text.trim() === "" || !(weight > 0) || !Number.isFinite(weight)) {
    throw new DataError(place, "have a weight above 0", JSON.stringify(text), "mend the weight or remove the link");
  }
  return weight;
}
