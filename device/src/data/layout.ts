// What a file offers before its rows are read, and which of its columns are wanted.

import { asArgument, DataError, type Place } from "./refusal.ts";

/** What the cells of a column are by the file's first rows, or by its type. */
export type ColumnKind = "number" | "text" | "decimal commas" | "other" | "empty";

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

export interface Selection {
  /** Names, in the order wanted. Without them: all that are not excluded. */
  readonly columns?: readonly string[];
  readonly exclude?: readonly string[];
  /** The column that names each row's device, which is no feature. */
  readonly deviceColumn?: string;
}

/** Where the wanted columns stand in the file, in the order wanted. */
export interface Chosen {
  readonly features: readonly { readonly name: string; readonly index: number }[];
  readonly device: number | undefined;
}

/** `names` is where the file names its columns. */
export function chooseColumns(names: Place, all: readonly Column[], selection: Selection): Chosen {
  const { columns, exclude = [], deviceColumn } = selection;
  const find = (name: string, option: string) => indexOf(names, all, name, option);
  const device = deviceColumn === undefined ? undefined : find(deviceColumn, "--device-column");
  for (const name of exclude) if (!all.some((column) => column.name === name)) find(name, "--exclude");
  const features =
    columns?.map((name) => ({ name, index: find(name, "--columns") })) ??
    all
      .map(({ name }, index) => ({ name, index }))
      .filter(({ name, index }) => !exclude.includes(name) && index !== device);
  checkRepeated(names, features);
  if (features.length === 0) {
    const place = { ...names, column: all.at(0)?.name ?? 1 };
    throw new DataError(place, "be left to cluster, or another column", "none left", "exclude fewer columns");
  }
  checkKinds(names, all, features, device);
  return { features, device };
}

function indexOf(place: Place, all: readonly Column[], name: string, option: string): number {
  const index = all.findIndex((column) => column.name === name);
  if (index < 0) {
    const names = all.map((column) => JSON.stringify(column.name));
    const known =
      names.length > 12 ? `${names.slice(0, 12).join(", ")} and ${names.length - 12} more` : names.join(", ");
    throw new DataError({ ...place, column: name }, "exist", `the columns ${known}`, `name one of them with ${option}`);
  }
  if (all.some((column, other) => other > index && column.name === name)) {
    throw new DataError({ ...place, column: name }, "be there once", "two of them", "rename one in the file");
  }
  return index;
}

function checkRepeated(place: Place, features: Chosen["features"]): void {
  const seen = new Set<string>();
  for (const { name } of features) {
    if (seen.has(name)) {
      const remedy = `rename one of them in the file, or leave both out with --exclude ${asArgument([name])}`;
      throw new DataError({ ...place, column: name }, "be there once", "two of them", remedy);
    }
    seen.add(name);
  }
}

/** All columns that hold no numbers in one refusal, with the arguments that help. */
function checkKinds(
  where: Place,
  all: readonly Column[],
  features: Chosen["features"],
  device: number | undefined,
): void {
  // A column without a value so far may have one further down; the missing cells are counted when all are read.
  const strange = features.filter(({ index }) => all[index].kind !== "number" && all[index].kind !== "empty");
  if (strange.length === 0) return;
  const numeric = all.filter(({ kind }, index) => kind === "number" && index !== device).map(({ name }) => name);
  const names = strange.map(({ name }) => name);
  const kinds = new Set(strange.map(({ index }) => all[index].kind));
  const kind = kinds.size === 1 ? [...kinds][0].replace("other", "other values") : "other values";
  const got = `${kind} in ${names.map((name) => JSON.stringify(name)).join(", ")}`;
  const place = { ...where, column: names[0] };
  if (kind === "decimal commas") throw new DataError(place, "hold numbers", got, "write numbers with a decimal point");
  if (numeric.length === 0) {
    throw new DataError(place, "hold numbers", got, "turn at least one column into numbers first");
  }
  const remedy = `leave ${names.length === 1 ? "it" : "them"} out with --exclude ${asArgument(names)}, or choose with --columns ${asArgument(numeric)}`;
  throw new DataError(place, "hold numbers", got, remedy);
}
