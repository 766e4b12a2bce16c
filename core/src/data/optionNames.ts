// Names and values of options: unknown names are refused with the nearest known one, and a refused value is described.
// This file imports nothing, so that a command line can use it without loading the algorithm.

/**
 * The most similar name, if a slip of the hand or two explains the difference.
 * @example nearestName("apha", ["alpha", "rounds"]) // "alpha"
 */
export function nearestName(got: string, names: readonly string[]): string | undefined {
  let [nearest, fewest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const name of names) {
    const edits = editDistance(got.toLowerCase(), name.toLowerCase());
    if (edits <= Math.max(2, Math.floor(name.length / 3)) && edits < fewest) [nearest, fewest] = [name, edits];
  }
  return nearest;
}

/** Letters to insert, delete or replace, and neighbours to swap. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = rows[i - 1][j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, rows[i - 1][j] + 1, row[j - 1] + 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwap) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[from.length][to.length];
}

/**
 * An argument as an error message shows it.
 * @example describeArgument([1, 2]) // "a list of 2"
 */
export function describeArgument(value: unknown): string {
  if (typeof value === "string") return `"${value}"`;
  if (typeof value === "function") return "a function";
  if (isList(value)) return `a list of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/**
 * An array, a typed array or anything else with a length, but no text.
 * @example isList([1, 2]) // true
 */
export function isList(value: unknown): value is ArrayLike<unknown> {
  return typeof value === "object" && value !== null && "length" in value && typeof value.length === "number";
}

/**
 * An object with named parts, such as options.
 * @example isRecord({ k: 3 }) // true
 */
export function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isList(value);
}

/** The names of some options, all of them and no other: the compiler compares them with their type. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/**
 * Refuses what is no object; `needs` names what must be in it.
 * @example checkIsOptions({ k: 3 }, "k");
 */
export function checkIsOptions(given: unknown, needs = ""): void {
  if (!isRecord(given)) {
    throw new TypeError(`options must be an object${needs && ` with ${needs}`}, got ${describeArgument(given)}`);
  }
}

/**
 * The same, and names that are not among `known`.
 * @example checkOptions({ k: 3 }, { k: true, alpha: true }, "k");
 */
export function checkOptions(given: unknown, known: object, needs = ""): void {
  checkIsOptions(given, needs);
  for (const name in given as object) {
    if (Object.hasOwn(known, name)) continue;
    const nearest = nearestName(name, Object.keys(known));
    const help = nearest === undefined ? `options are ${Object.keys(known).join(", ")}` : `did you mean "${nearest}"?`;
    throw new TypeError(`unknown option "${name}", ${help}`);
  }
}

/** Options with every default filled in. */
export type Settled<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/**
 * So that spreading options over others does not undo these.
 * @example withoutUndefined({ k: 3, alpha: undefined }) // { k: 3 }
 */
export function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
