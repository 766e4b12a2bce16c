// --set method.option=value: an option of one method, checked by what the method says of itself.

import { nearestName } from "@fedkm/core/optionNames";
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
    if (option === "rounds") throw new UsageError("--set must leave rounds to --messages, the budget of every method");
    const { takes } = table[method];
    if (takes !== undefined && !Object.hasOwn(takes, option)) {
      const { rounds, ...settable } = takes;
      const rule = `--set ${method} must name one of ${Object.keys(settable).join(", ")}`;
      throw new UsageError(`${rule}, got "${option}"${suggestion(option, settable)}`);
    }
    settings[method] = { ...settings[method], [option]: parseValue(text, value, takes?.[option]) };
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

function suggestion(got: string, names: object): string {
  const nearest = nearestName(got, Object.keys(names));
  return nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
}
