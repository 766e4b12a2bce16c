// One cell as text: a number, missing, or neither. Nothing is guessed, and no cell becomes 0 that does not say so.

/** What a number looks like; Number alone would take "", "0x10" and " " too. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** How tables say that a value is not known, in any case. */
const MISSING: ReadonlySet<string> = new Set(["", "na", "n/a", "#n/a", "nan", "null", "none", "?"]);

/** The number that a cell holds, NaN where it says that it is missing, undefined for anything else. */
export function cellValue(text: string): number | undefined {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) return Number(trimmed);
  return isMissing(trimmed) ? Number.NaN : undefined;
}

/** Whether a text without spaces around it says that there is no value. */
export function isMissing(trimmed: string): boolean {
  return MISSING.has(trimmed.toLowerCase());
}
