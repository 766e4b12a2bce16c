// What a file offers before its rows are read, and which of its columns are wanted.

import { DataError, type FilePosition, listInRefusal, type Remedy } from "../source/refusal.ts";
import { defaultLimits, type Limits, type TextEncoding } from "../source/source.ts";
import { type CellReader, type CellRules, cellReader, NO_NUMBER } from "./cell.ts";
import { type CellForm, type LookedCells, lookAtCells } from "./cellForms.ts";

/** What the cells of a column are by the file's first rows, or by its type. */
export type ColumnKind = "number" | "date" | "text" | "boolean" | "decimal commas" | "other" | "empty";

/** A column as its cells are read. */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** How its cells are written, where that is not as usual. */
  readonly form?: CellForm;
  /** Digits that begin with zeros, such as postcodes. */
  readonly isCode?: boolean;
  /** Dates of which nobody can tell the day from the month. */
  readonly isAmbiguous?: boolean;
}

/** What columns of text hold, by some of their cells. Where one could mean two things, the others may tell. */
export function textColumns(
  names: readonly string[],
  cellsOf: (column: number) => readonly string[],
  rules: CellReader,
): Column[] {
  const looks = names.map((_, c) => lookAtCells(presentCells(cellsOf(c), rules)));
  const sure = looks.flatMap((look) => (look.kind === "number" && look.forms.length === 1 ? look.forms : []));
  const signs = new Set(sure.map(({ decimal }) => decimal));
  const decimal = rules.decimal ?? (signs.size === 1 ? sure[0].decimal : undefined);
  return looks.map((look, c) => {
    const name = names[c];
    if (look.kind === "number") return { name, ...numberColumn(look, decimal, rules.forms?.[name]) };
    if (look.kind === "date") return { name, ...dateColumn(look.orders, rules, rules.forms?.[name]) };
    return { name, kind: look.kind };
  });
}

/** What people write where nothing is known. Such a cell says nothing about its column, and is refused by its line. */
const PLACEHOLDER =
  /^([-–—.*_x]+|[nk]\.? ?a\.?|n\.v\.|n\.d\.|tbd|unknown|missing|unbekannt|inconnu|not \w+|#\S+[!?])$/i;

function presentCells(cells: readonly string[], rules: CellReader): string[] {
  const present = cells.map((cell) => cell.trim()).filter((text) => !rules.isMissing(text));
  const telling = present.filter((text) => text.toLowerCase() !== NO_NUMBER && !PLACEHOLDER.test(text));
  return telling.length > 0 || present.every((text) => text.toLowerCase() === NO_NUMBER) ? telling : present;
}

function numberColumn(
  { forms, isPlain, isCode, isOpen }: Extract<LookedCells, { kind: "number" }>,
  decimal: CellForm["decimal"],
  told: CellForm | undefined,
): Omit<Column, "name"> {
  const code = isCode ? { isCode } : {};
  const remembered = told && forms.find((form) => form.decimal === (told.decimal ?? "."));
  if (remembered !== undefined) {
    const { unit } = remembered;
    return { kind: "number", form: { ...told, ...(unit !== undefined && { unit }) }, ...code };
  }
  const fitting = forms.filter((form) => form.decimal === decimal);
  const [form, other] = fitting.length > 0 ? fitting : forms;
  if (isPlain && form.decimal === ".") return { kind: "number", ...code };
  return other === undefined || !isOpen ? { kind: "number", form } : { kind: "decimal commas" };
}

function dateColumn(
  orders: Extract<LookedCells, { kind: "date" }>["orders"],
  { dates }: CellReader,
  remembered: CellForm | undefined,
): Omit<Column, "name"> {
  const told = dates === "day-first" ? "day" : dates === "month-first" ? "month" : remembered?.order;
  if (orders.length > 1 && told === undefined) return { kind: "date", isAmbiguous: true };
  const order = orders.length > 1 ? told : orders[0];
  return { kind: dates === undefined ? "date" : "number", ...(order && { form: { order } }) };
}

/** Which columns of a file are taken, and for what. */
export interface Selection {
  /** Names, in the order wanted. Without them: all that are not excluded. */
  readonly columns?: readonly string[];
  readonly exclude?: readonly string[];
  /** The column that names each row's device, which is no feature. */
  readonly deviceColumn?: string;
  /** The columns that are categories; "auto": all of texts and booleans. */
  readonly categories?: "auto" | readonly string[];
  /** Whether a row may name no device, and then belongs to none. */
  readonly allowsNameless?: boolean;
  /** Of delimited text: no more rows than about these first ones, for a look. */
  readonly firstRows?: number;
}

/** How a file is written, where its first lines do not say so. */
export interface DialectOptions extends CellRules {
  /** One character between the cells of delimited text. */
  readonly delimiter?: string;
  /** Whether the first record names the columns. */
  readonly header?: boolean;
  /** Of text that is not UTF-8. */
  readonly encoding?: TextEncoding;
  /**
   * Of a workbook the name of a sheet or its number from 1, of an archive that of a file or an array; "all" for all sheets
   * with the same columns. By default the first sheet that is a table, and all files.
   */
  readonly sheet?: string;
}

/** What is wanted of a file, and by which rules its cells are read. */
export interface ReadPlan {
  readonly options: Selection & DialectOptions;
  readonly limits: Limits;
  readonly rules: CellReader;
}

export function tableReadPlan(options: Selection & DialectOptions & { readonly limits?: Limits }): ReadPlan {
  return { options, limits: options.limits ?? defaultLimits, rules: cellReader(options) };
}

/** Where the wanted columns stand in the file, in the order wanted. */
export interface ChosenColumns {
  readonly features: readonly { readonly name: string; readonly index: number; readonly isCategory: boolean }[];
  readonly device: number | undefined;
  /** Whether a row may name no device. */
  readonly allowsNameless: boolean;
}

/** `names` is where the file names its columns. */
export function chooseColumns(names: FilePosition, all: readonly Column[], selection: Selection): ChosenColumns {
  const { columns, exclude = [], deviceColumn, categories = [] } = selection;
  const find = (name: string, option: keyof Selection) => indexOf(names, all, name, option);
  const device = deviceColumn === undefined ? undefined : find(deviceColumn, "deviceColumn");
  for (const name of exclude) if (!all.some((column) => column.name === name)) find(name, "exclude");
  if (categories !== "auto") for (const name of categories) find(name, "categories");
  const isCategory = ({ name, kind }: Column) =>
    categories === "auto" ? isWordy(kind) : categories.includes(name) && kind !== "other";
  const wanted =
    columns?.map((name) => ({ name, index: find(name, "columns") })) ??
    all
      .map(({ name }, index) => ({ name, index }))
      .filter(({ name, index }) => !exclude.includes(name) && index !== device);
  const features = wanted.map((own) => ({ ...own, isCategory: isCategory(all[own.index]) }));
  checkRepeated(names, features, columns !== undefined);
  if (features.length === 0) {
    const position = { ...names, column: all.at(0)?.name ?? 1 };
    throw new DataError(position, "be left to cluster, or another column", "none left", "exclude fewer columns");
  }
  checkKinds(names, all, features, device);
  return { features, device, allowsNameless: selection.allowsNameless === true };
}

const isWordy = (kind: ColumnKind) => kind === "text" || kind === "boolean";

function indexOf(position: FilePosition, all: readonly Column[], name: string, option: keyof Selection): number {
  const index = all.findIndex((column) => column.name === name);
  if (index < 0) {
    const columns = all.map((column) => column.name);
    const known = listInRefusal(columns.map((own) => JSON.stringify(own)));
    const remedies = [{ kind: "name-column", option, columns } as const];
    throw new DataError({ ...position, column: name }, "exist", `the columns ${known}`, remedies);
  }
  if (all.some((column, other) => other > index && column.name === name)) {
    throw new DataError({ ...position, column: name }, "be there once", "two of them", "rename one in the file");
  }
  return index;
}

function checkRepeated(position: FilePosition, features: ChosenColumns["features"], areNamed: boolean): void {
  const seen = new Set<string>();
  for (const { name } of features) {
    if (seen.has(name)) {
      const remedies: Remedy[] = areNamed
        ? [{ kind: "choose-columns", columns: [...new Set(features.map((feature) => feature.name))] }]
        : [
            { kind: "text", text: "rename one of them in the file" },
            { kind: "leave-out-columns", columns: [name, name] },
          ];
      throw new DataError({ ...position, column: name }, "be there once", "two of them", remedies);
    }
    seen.add(name);
  }
}

/** All columns that hold no numbers in one refusal. */
function checkKinds(
  where: FilePosition,
  all: readonly Column[],
  features: ChosenColumns["features"],
  device: number | undefined,
): void {
  // A column without a value so far may have one further down; the missing cells are counted when all are read.
  const isFine = (kind: ColumnKind) => kind === "number" || kind === "empty";
  const strange = features.filter(({ index, isCategory }) => !isCategory && !isFine(all[index].kind));
  if (strange.length === 0) return;
  const numeric = all.filter(({ kind }, index) => kind === "number" && index !== device).map(({ name }) => name);
  const named = (kind: ColumnKind) => strange.filter(({ index }) => all[index].kind === kind).map(({ name }) => name);
  const got = (["decimal commas", "date", "text", "boolean", "other"] as const)
    .filter((kind) => named(kind).length > 0)
    .map((kind) => `${spoken[kind]} in ${quoted(named(kind))}`)
    .join(", ");
  const commas = named("decimal commas");
  const dates = named("date");
  const others = strange.map(({ name }) => name).filter((name) => !commas.includes(name));
  const wordy = strange.filter(({ index }) => isWordy(all[index].kind)).map(({ name }) => name);
  const remedies = kindRemedies({ commas, others, wordy, dates }, numeric);
  throw new DataError({ ...where, column: commas.at(0) ?? others[0] }, "hold numbers", got, remedies);
}

const spoken = {
  "decimal commas": "decimal commas",
  date: "dates",
  text: "text",
  boolean: "booleans",
  other: "other values",
};

function kindRemedies(
  { commas, others, wordy, dates }: Readonly<Record<"commas" | "others" | "wordy" | "dates", readonly string[]>>,
  numeric: readonly string[],
): readonly Remedy[] {
  const left = [...commas, ...numeric];
  const points: Remedy = { kind: "decimal-points", columns: commas };
  const categories: Remedy[] = wordy.length === 0 ? [] : [{ kind: "take-categories", columns: wordy }];
  const asDays: Remedy[] = dates.length === 0 ? [] : [{ kind: "dates", columns: dates }];
  const selections: Remedy[] = [
    { kind: "leave-out-columns", columns: others },
    { kind: "choose-columns", columns: left },
    ...categories,
    ...asDays,
  ];
  const turned: Remedy = { kind: "text", text: "turn at least one column into numbers first" };
  if (left.length === 0) return [turned, ...categories, ...asDays];
  if (commas.length === 0) return selections;
  return others.length === 0 ? [points] : [{ kind: "both", first: points, rest: selections }];
}

const quoted = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(", ");
