// The command line of fedkm fit, ready to be pasted: what follows from a look at files, or from a choice of k and alpha.

import type { Weighting } from "@fedkm/core";
import type { DialectOptions } from "@fedkm/files";
import type { PrepareRequest } from "../prepare/prepare.ts";
import { shellCharacterName, shellNames, shellWord } from "../shellWords.ts";
import {
  hasInspectedTail,
  type InspectedColumn,
  type InspectedTable,
  isInspectedDevice,
  isInspectedName,
  isInspectedTarget,
  isInspectedUseless,
} from "./inspectTable.ts";

/** So many clusters until somebody knows better. */
const CLUSTERS = 3;
/** Above this share of rows with a missing cell, dropping them changes what is clustered. */
const MOST_DROPPED = 0.2;

/** What no argument of a command helps against. */
export type Obstacle =
  | { readonly kind: "commas"; readonly columns: readonly string[] }
  | { readonly kind: "unreadable lines"; readonly files: readonly string[] }
  | { readonly kind: "nothing to cluster" };

export interface Proposal {
  readonly command: string;
  /** What must be done first, if anything. */
  readonly first: readonly Obstacle[];
}

export function proposedCommandLine(looks: readonly InspectedTable[], options: DialectOptions): Proposal {
  const [{ columns }] = looks;
  const known = columns.map(({ name }) => looks.flatMap((look) => look.columns.find((own) => own.name === name) ?? []));
  const isEverywhere = known.map((own) => own.length === looks.length);
  const rows = looks.reduce((sum, look) => sum + look.rows, 0);
  const unreadable = unreadableWords(looks);
  const codes = [...new Set([...(options.na ?? []), ...known.flatMap(sentinelsOf), ...(unreadable ?? [])])];
  // Several files are devices already.
  const device = looks.length === 1 ? columns.find((own) => isInspectedDevice(own, rows))?.name : undefined;
  const useful = columns.filter(
    ({ name }, c) => name !== device && isEverywhere[c] && isUseful(known[c], rows, unreadable !== undefined),
  );
  const names = useful.map(({ name }) => name);
  const others = [...new Set(looks.flatMap((look) => look.columns.map(({ name }) => name)))].filter(
    (name) => name !== device && !names.includes(name),
  );
  const words = useful.filter(({ kind }) => kind === "text" || kind === "boolean").map(({ name }) => name);
  const hasDates = useful.some(({ kind }) => kind === "date");
  const dialect = { ...options, ...(codes.length > 0 && { na: codes }), ...(hasDates && { dates: "days" as const }) };
  const parts = [
    "fedkm fit",
    ...looks.map(({ file }) => fileWord(file)),
    `--k ${Math.max(1, Math.min(CLUSTERS, rows))}`,
    ...(others.length === 0
      ? []
      : others.length <= names.length
        ? [`--exclude ${shellNames(others)}`]
        : [`--columns ${shellNames(names)}`]),
    ...(device === undefined ? [] : [`--device-column ${shellWord(device)}`]),
    ...(words.length === 0 ? [] : [`--categories ${shellNames(words)}`]),
    ...dialectWords(dialect),
    ...missingWords(looks, names, codes.length > 0),
    `--scale ${scaleFor(known.filter((own) => names.includes(own[0]?.name)))}`,
  ];
  return { command: parts.join(" "), first: firstOf(looks, names) };
}

function isUseful(own: readonly InspectedColumn[], rows: number, isReadable: boolean): boolean {
  const [{ kind }] = own;
  const isKnown = ["number", "date", "text", "boolean"].includes(kind) && own.every((column) => column.kind === kind);
  const hasBad = own.some(({ bad }) => bad > 0);
  const hasNames = own.some((column) => isInspectedName(column, rows / own.length));
  const isAnswer = own.some(isInspectedTarget);
  return isKnown && !isAnswer && !own.every(isInspectedUseless) && !hasNames && (isReadable || !hasBad);
}

const sentinelsOf = (own: readonly InspectedColumn[]) =>
  own.flatMap(({ sentinel }) => (sentinel ? [String(sentinel.value)] : []));

const MOST_WORDS = 3;

/** Words that stand where numbers should, if they are so few that they mean something; undefined if they are not. */
function unreadableWords(looks: readonly InspectedTable[]): string[] | undefined {
  const words = new Set<string>();
  for (const { bad } of looks) {
    if (bad.count > bad.first.length) return undefined;
    for (const { rule, got } of bad.first) {
      const [, word] = /^"([\w./ -]{1,20})"$/.exec(got) ?? [];
      if (rule !== "be a number" || word === undefined) return undefined;
      words.add(word);
    }
  }
  return words.size <= MOST_WORDS ? [...words] : undefined;
}

function missingWords(looks: readonly InspectedTable[], names: readonly string[], hasCodes: boolean): string[] {
  const shares = looks.map(({ rows, columns }) => {
    const missing = columns
      .filter(({ name }) => names.includes(name))
      .map((own) => (own.missing ?? 0) + own.bad + (own.sentinel?.count ?? 0));
    return missing.reduce((sum, count) => sum + count, 0) / Math.max(1, rows);
  });
  if (!hasCodes && shares.every((share) => share === 0)) return [];
  return [`--missing ${shares.every((share) => share <= MOST_DROPPED) ? "drop" : "mean"}`];
}

function scaleFor(known: readonly (readonly InspectedColumn[])[]): string {
  const tails = known.filter((own) => own.some(hasInspectedTail));
  if (tails.length === 0) return "standard";
  const isPositive = tails.every((own) =>
    own.every(({ range, kind }) => kind === "number" && range !== undefined && range.least > 0),
  );
  return isPositive ? shellWord(`log:${tails.map(([{ name }]) => name).join(",")}`) : "rank";
}

function firstOf(looks: readonly InspectedTable[], names: readonly string[]): Obstacle[] {
  const files = looks
    .filter(({ bad }) => bad.first.some(({ rule }) => !/^be a number/.test(rule)))
    .map(({ file }) => file);
  const commas = looks.flatMap(({ columns }) => columns.filter(({ kind }) => kind === "decimal commas"));
  return [
    ...(commas.length > 0 ? [{ kind: "commas", columns: [...new Set(commas.map(({ name }) => name))] } as const] : []),
    ...(files.length > 0 ? [{ kind: "unreadable lines", files } as const] : []),
    ...(names.length + commas.length === 0 ? [{ kind: "nothing to cluster" } as const] : []),
  ];
}

export function fitCommandLine(
  patterns: readonly string[],
  options: Omit<PrepareRequest, "graph"> & {
    readonly graph: string;
    readonly scale: string;
    readonly weighting: Weighting;
  },
  { k, alpha }: { readonly k: number; readonly alpha: number },
): string {
  const { columns, exclude, deviceColumn, categories, missing, graph, scale, weighting, seed } = options;
  const words = ["fedkm fit", ...patterns.map(fileWord), `--k ${k} --alpha ${alpha}`];
  if (columns !== undefined) words.push(`--columns ${shellNames(columns)}`);
  if (exclude !== undefined) words.push(`--exclude ${shellNames(exclude)}`);
  if (deviceColumn !== undefined) words.push(`--device-column ${shellWord(deviceColumn)}`);
  if (categories !== undefined) {
    words.push(`--categories ${categories === "auto" ? categories : shellNames(categories)}`);
  }
  words.push(...dialectWords(options));
  // What is not said otherwise is the same in both commands.
  if (missing !== undefined && missing !== "refuse") words.push(`--missing ${missing}`);
  if (graph !== "complete") words.push(`--graph ${shellWord(graph)}`);
  if (scale !== "none") words.push(`--scale ${shellWord(scale)}`);
  if (weighting !== "sample") words.push(`--weighting ${weighting}`);
  if (seed !== 1) words.push(`--seed ${seed}`);
  return words.join(" ");
}

/** A name that begins with a dash would be taken for an option; a dash alone is the standard input. */
function fileWord(file: string): string {
  return shellWord(/^-./.test(file) ? `./${file}` : file);
}

/** How text is read, as it was asked for. */
function dialectWords(options: DialectOptions): string[] {
  const { delimiter, header, decimal, na, dates, encoding, sheet } = options;
  return [
    ...(delimiter === undefined ? [] : [`--delimiter ${shellWord(shellCharacterName(delimiter))}`]),
    ...(header === undefined ? [] : [`--header ${header ? "yes" : "no"}`]),
    ...(decimal === undefined ? [] : [`--decimal ${shellCharacterName(decimal)}`]),
    ...(na === undefined ? [] : [`--na ${shellNames(na)}`]),
    ...(dates === undefined ? [] : [`--dates ${dates}`]),
    ...(encoding === undefined ? [] : [`--encoding ${encoding}`]),
    ...(sheet === undefined ? [] : [`--sheet ${shellWord(sheet)}`]),
  ];
}
