// The links of a GraphML file: nodes by id or by a key called name or label, edges with a key called weight.

import { DataError } from "../refusal.ts";
import type { NamedLink } from "./link.ts";

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  /** The text behind it, up to the next tag. */
  readonly text: string;
  readonly line: number;
}

export function graphmlLinks(file: string, text: string): NamedLink[] {
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
          throw new DataError(
            { file, line: tag.line },
            "be an edge with source and target",
            "one without",
            "fix the edge",
          );
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

function* tags(file: string, text: string): Generator<Tag> {
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
