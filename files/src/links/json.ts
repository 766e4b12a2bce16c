// The links of a JSON file: [["a", "b", 2], ...], or an object with such "edges", or the node-link form of graph libraries.

import { DataError } from "../refusal.ts";
import type { NamedLink } from "./link.ts";

export function jsonLinks(file: string, text: string): NamedLink[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    throw new DataError({ file }, "be JSON", got, "fix the file");
  }
  const listed = Array.isArray(value) ? value : (field(value, "edges") ?? field(value, "links"));
  if (!Array.isArray(listed)) {
    throw new DataError(
      { file },
      'be a list of links, or an object with "edges" or "links"',
      "neither",
      'write [["a", "b"], ...]',
    );
  }
  return listed.map((link: unknown, at) => {
    const [from, to, weight] = Array.isArray(link)
      ? link
      : [field(link, "source"), field(link, "target"), field(link, "weight")];
    if (!isName(from) || !isName(to)) {
      const remedy = 'write ["a", "b"] or {"source": "a", "target": "b"}';
      throw new DataError(
        { file },
        "hold links between two names",
        `${JSON.stringify(link)} as link ${at + 1}`,
        remedy,
      );
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
