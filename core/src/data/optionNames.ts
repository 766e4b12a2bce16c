// What a caller gave: how a value that is refused is named in one line, and whether every option has a name that is known.

import { nearestName } from "./nearestName.ts";

/** A value as an error names it. */
export function show(value: unknown): string {
  if (typeof value === "string") return `"${value}"`;
  if (typeof value === "function") return "a function";
  if (isList(value)) return `a list of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** An array, a typed array or anything else with a length, but no text. */
export function isList(value: unknown): value is ArrayLike<unknown> {
  return typeof value === "object" && value !== null && "length" in value && typeof value.length === "number";
}

/** An object with named parts, such as options. */
export function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isList(value);
}

/** The names of some options, all of them and no other: the compiler compares them with their type. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/** Refuses what is no object; `needs` names what must be in it. */
export function checkIsOptions(given: unknown, needs = ""): void {
  if (!isRecord(given)) {
    throw new TypeError(`options must be an object${needs && ` with ${needs}`}, got ${show(given)}`);
  }
}

/** The same, and names that are not among `known`. */
export function checkOptions(given: unknown, known: object, needs = ""): void {
  checkIsOptions(given, needs);
  for (const name in given as object) {
    if (Object.hasOwn(known, name)) continue;
    const nearest = nearestName(name, Object.keys(known));
    const help = nearest === undefined ? `options are ${Object.keys(known).join(", ")}` : `did you mean "${nearest}"?`;
    throw new TypeError(`unknown option "${name}", ${help}`);
  }
}
