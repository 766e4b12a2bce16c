// Fields of a file that a person wrote: each is checked by one rule, and an error names field, rule, value and line.

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
    throw new RangeError(`${name || whole} must be ${rule}, got ${show(got)}${where(path)}`);
  };
}

/** The fields of an object in which nothing but the known ones may stand. */
export function fieldsOf(value: unknown, path: Path, known: readonly string[], fail: Fail): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail(path, `a list of fields (${known.join(", ")})`, value);
  }
  const stranger = Object.keys(value).find((name) => !known.includes(name));
  if (stranger !== undefined)
    fail(
      [...path, stranger],
      `left out (fields are ${known.join(", ")})`,
      (value as Record<string, unknown>)[stranger],
    );
  return value as Record<string, unknown>;
}

export function numberAt(
  given: Record<string, unknown>,
  path: Path,
  ok: (value: number) => boolean,
  rule: string,
  fail: Fail,
  or?: number,
): number {
  const got = given[path[path.length - 1]] ?? or;
  return typeof got === "number" && Number.isFinite(got) && ok(got) ? got : fail(path, rule, got);
}

export function textAt(
  given: Record<string, unknown>,
  path: Path,
  shortest: number,
  longest: number,
  fail: Fail,
): string {
  const got = given[path[path.length - 1]] ?? (shortest === 0 ? "" : undefined);
  const fits = typeof got === "string" && got.length >= shortest && got.length <= longest;
  // Names are printed in terminals and logs.
  return fits && !/\p{Cc}/u.test(got)
    ? got
    : fail(path, `a text of ${shortest} to ${longest} printable characters`, got);
}

export function show(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "number") return String(value);
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
