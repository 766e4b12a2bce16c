// Fields of a file that a person wrote: each is checked by one rule, and an error names field, rule, value and line.

import { printable } from "./wire/printable.ts";

export type Path = readonly (string | number)[];

/** Throws the one line of an error: rule and value of the field at a path. */
export type Fail = (path: Path, rule: string, got: unknown) => never;

/** `where` gives the line of a field, if it has one. */
export function failWith(where: (path: Path) => string, whole: string): Fail {
  return (path, rule, got) => {
    const name = path.reduce<string>((text, part) => {
      if (typeof part === "number") return `${text}[${part}]`;
      return text === "" ? part : `${text}.${part}`;
    }, "");
    throw new RangeError(`${name || whole} must be ${rule}, got ${showValue(got)}${where(path)}`);
  };
}

/** The fields of one object, by name. */
export interface Fields {
  /** As it stands there. */
  value(name: string): unknown;
  number(name: string, isMet: (value: number) => boolean, rule: string, or?: number): number;
  text(name: string, shortest: number, longest: number): string;
}

/** The fields of an object at a path, in which nothing but the known ones may stand. */
export function fieldsOf(value: unknown, path: Path, known: readonly string[], fail: Fail): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail(path, `a list of fields (${known.join(", ")})`, value);
  }
  const given = value as Record<string, unknown>;
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined) fail([...path, stranger], `left out (fields are ${known.join(", ")})`, given[stranger]);
  return {
    value: (name) => given[name],
    number(name, isMet, rule, or) {
      const got = given[name] ?? or;
      return typeof got === "number" && Number.isFinite(got) && isMet(got) ? got : fail([...path, name], rule, got);
    },
    text(name, shortest, longest) {
      const got = given[name] ?? (shortest === 0 ? "" : undefined);
      const fits = typeof got === "string" && got.length >= shortest && got.length <= longest;
      const rule = `a text of ${shortest} to ${longest} printable characters`;
      // Names are printed in terminals and logs.
      return fits && !/\p{Cc}/u.test(got) ? got : fail([...path, name], rule, got);
    },
  };
}

export function showValue(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "number") return String(value);
  const text = printable(JSON.stringify(value));
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
