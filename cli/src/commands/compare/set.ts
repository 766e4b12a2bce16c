// --set method.option=value: an option of one method, checked by what the method says of itself.

import type { ComparisonTable, MethodSettings } from "@fedkm/experiments";
import { UsageError } from "../../failure.ts";

/** All of them together; a later one wins over an earlier one. */
export function parseSettings(given: readonly string[], table: ComparisonTable): MethodSettings {
  const settings: Record<string, Record<string, unknown>> = {};
  for (const text of given) {
    const [, method, option, value] = /^([^.=]+)\.([^.=]+)=(.+)$/.exec(text) ?? [];
    if (method === undefined) throw new UsageError(`--set must look like distributed.eta=2, got "${text}"`);
    if (!Object.hasOwn(table, method)) {
      throw new UsageError(`--set must name a method that is run, got "${method}"${suggestion(method, table)}`);
    }
    const { settable } = table[method];
    if (settable !== undefined && !Object.hasOwn(settable, option)) {
      const names = Object.keys(settable).join(", ");
      const rule = `--set ${method} must name one of ${names}`;
      throw new UsageError(`${rule}, got "${option}"${suggestion(option, settable)}`);
    }
    settings[method] = { ...settings[method], [option]: parseValue(text, value, settable?.[option]) };
  }
  return settings;
}

/** A number or a word; true and false are themselves. Forms are those of the method, where it names them. */
function parseValue(text: string, value: string, forms: readonly string[] | undefined): unknown {
  const number = Number(value);
  const isNumber = value.trim() !== "" && Number.isFinite(number);
  if (isNumber && (forms === undefined || forms.includes("number"))) return number;
  // The word "number" stands for numbers and is none of the words.
  if (forms !== undefined && (value === "number" || !forms.includes(value))) {
    const rule = forms.map((form) => (form === "number" ? "a number" : form)).join(" or ");
    throw new UsageError(`--set ${text.slice(0, text.indexOf("="))} must be ${rule}, got "${value}"`);
  }
  return value === "true" || value === "false" ? value === "true" : value;
}

/** The nearest of some names, where a slip of the hand or two explains the difference. */
function suggestion(got: string, names: object): string {
  const [nearest] = Object.keys(names)
    .map((name) => ({ name, edits: editDistance(got.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const isNear = nearest !== undefined && nearest.edits <= Math.max(2, Math.floor(nearest.name.length / 3));
  return isNear ? ` (did you mean ${nearest.name}?)` : "";
}

/** Letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}
