// What a careful colleague would ask of files: columns, categories, devices, codes for missing cells and a scale. Whatever
// was asked already stays as it is.

import type { DialectOptions } from "@fedkm/files";
import type { FileInput, RowsRequest } from "../input/readTables.ts";
import type { PrepareRequest } from "../prepare/prepare.ts";
import { joinedNames } from "../shellWords.ts";
import { computeWork, type WorkContext } from "../work.ts";
import { type ClassifiedColumn, classifyColumns, isFeatureRole, likelyScale } from "./columnRoles.ts";
import { type InspectedColumn, type InspectedTable, inspectTable } from "./inspectTable.ts";

/** What a proposal decides. */
export type ProposedOptions = Pick<
  RowsRequest & PrepareRequest,
  "columns" | "exclude" | "deviceColumn" | "categories" | "missing" | "scale" | keyof DialectOptions
>;

/** What no option helps against. */
export type Obstacle =
  | { readonly kind: "unreadable lines"; readonly files: readonly string[] }
  | { readonly kind: "nothing to cluster" };

export interface Proposal {
  /** As asked, with all that was decided. */
  readonly options: ProposedOptions;
  readonly columns: readonly ClassifiedColumn[];
  /** What was decided, in a few words each. */
  readonly decisions: readonly string[];
  /** What must be done first, if anything. */
  readonly first: readonly Obstacle[];
}

/** So many rows of a large text say what its columns are. */
const FIRST_ROWS = 50_000;

/** The same from the files themselves. */
export async function proposeForFiles(
  files: readonly FileInput[],
  asked: ProposedOptions,
  context: WorkContext = {},
): Promise<Proposal> {
  const looks: InspectedTable[] = [];
  const { delimiter, header, decimal, na, dates, encoding, sheet } = asked;
  const dialect = Object.entries({ delimiter, header, decimal, na, dates, encoding, sheet });
  const reading: DialectOptions = Object.fromEntries(dialect.filter(([, value]) => value !== undefined));
  for (const file of files) looks.push(await inspectTable(file, reading, context, FIRST_ROWS));
  const proposal = await computeWork(context, () => proposeOptions(looks, asked));
  // There may be gaps further down.
  const isWhole = looks.every(({ rows }) => rows < FIRST_ROWS) || proposal.options.missing !== undefined;
  return isWhole ? proposal : { ...proposal, options: { ...proposal.options, missing: "drop" } };
}

/** Options with which files that were inspected can be fitted. */
export function proposeOptions(looks: readonly InspectedTable[], asked: ProposedOptions): Proposal {
  const classified = classifyColumns(looks);
  const columns = classified.map((own) => settled(own, asked));
  const features = columns.filter(({ role }) => isFeatureRole(role));
  const names = features.map(({ name }) => name);
  const known = names.map((name) => looks.flatMap((look) => look.columns.find((own) => own.name === name) ?? []));
  const device = asked.deviceColumn ?? columns.find(({ role }) => role === "device")?.name;
  const words = features.filter(({ role }) => role === "category").map(({ name }) => name);
  const numbers = known.filter(([{ name }]) => !words.includes(name));
  const sentinels = numbers.flatMap((own) => own.filter(isUnknown).map(({ sentinel }) => String(sentinel?.value)));
  const codes = [...new Set([...(asked.na ?? []), ...sentinels, ...features.flatMap((own) => own.codes)])];
  const hasDates = features.some(({ role }) => role === "date");
  const { scale, logarithms } = likelyScale(numbers, words.length > 0);
  const reading = Object.assign({}, ...looks.map((look) => look.reading)) as DialectOptions;
  const missing = asked.missing ?? missingPolicy(looks, names, asked.na === undefined && codes.length > 0);
  const selection = selectionOf(columns, names, device);
  const options: ProposedOptions = {
    ...reading,
    ...(asked.columns === undefined && asked.exclude === undefined ? selection : pick(asked)),
    ...(device !== undefined && { deviceColumn: device }),
    ...(asked.categories !== undefined ? { categories: asked.categories } : words.length > 0 && { categories: words }),
    ...(asked.na === undefined && codes.length > 0 && { na: codes }),
    ...(hasDates && { dates: reading.dates ?? "days" }),
    ...(missing !== undefined && { missing }),
    scale: asked.scale ?? (scale === "log" ? `log:${joinedNames(logarithms)}` : scale),
  };
  const decisions = decisionsOf(columns, asked, options, reading);
  return { options, columns, decisions, first: obstacles(looks, names) };
}

/** What people write where they know no number. Other far values that repeat are said, and kept. */
const UNKNOWN_NUMBER = /^(-\d+|9{2,}|8{2,}|7{2,})(\.9+)?$/;

const isUnknown = ({ sentinel }: InspectedColumn) => UNKNOWN_NUMBER.test(String(sentinel?.value));

const pick = ({ columns, exclude }: ProposedOptions) => ({ ...(columns && { columns }), ...(exclude && { exclude }) });

/** As somebody asked for it. */
function settled(own: ClassifiedColumn, asked: ProposedOptions): ClassifiedColumn {
  const { columns, exclude, deviceColumn, categories } = asked;
  const { name } = own;
  const wanted = columns?.includes(name) ?? (exclude === undefined ? undefined : !exclude.includes(name));
  if (name === deviceColumn) return { name, role: "device", codes: [] };
  if (categories !== "auto" && categories?.includes(name) && wanted !== false) return { ...own, role: "category" };
  if (wanted === false) return { ...own, role: "nothing", why: "left out as asked" };
  const isOther = own.role === "device" && (deviceColumn !== undefined || wanted === true);
  if (wanted !== true && !isOther) return own;
  if (isFeatureRole(own.role)) return own;
  return isOther && wanted !== true
    ? { ...own, role: "nothing", why: "another column names the device" }
    : asFeature(own);
}

/** A column that is wanted, whatever it looks like. */
function asFeature(own: ClassifiedColumn): ClassifiedColumn {
  const { why: _, ...rest } = own;
  return { ...rest, role: own.isWordy ? "category" : "number" };
}

/** The shorter list of the two. */
function selectionOf(columns: readonly ClassifiedColumn[], names: readonly string[], device: string | undefined) {
  const others = columns.map(({ name }) => name).filter((name) => name !== device && !names.includes(name));
  if (others.length === 0) return {};
  return others.length <= names.length ? { exclude: others } : { columns: names };
}

/** Above this share of rows with a missing cell, dropping them changes what is clustered. */
const MOST_DROPPED = 0.2;

function missingPolicy(looks: readonly InspectedTable[], names: readonly string[], hasCodes: boolean) {
  const shares = looks.map(({ rows, columns }) => {
    const missing = columns
      .filter(({ name }) => names.includes(name))
      .map((own) => (own.missing ?? 0) + own.bad + (isUnknown(own) ? (own.sentinel?.count ?? 0) : 0));
    return missing.reduce((sum, count) => sum + count, 0) / Math.max(1, rows);
  });
  if (!hasCodes && shares.every((share) => share === 0)) return undefined;
  return shares.every((share) => share <= MOST_DROPPED) ? "drop" : "mean";
}

function obstacles(looks: readonly InspectedTable[], names: readonly string[]): Obstacle[] {
  const files = looks
    .filter(({ bad }) => bad.first.some(({ rule }) => !/^be a number/.test(rule)))
    .map(({ file }) => file);
  return [
    ...(files.length > 0 ? [{ kind: "unreadable lines", files } as const] : []),
    ...(names.length === 0 ? [{ kind: "nothing to cluster" } as const] : []),
  ];
}

const scaleWords: Readonly<Record<string, string>> = {
  none: "columns of one unit, not scaled",
  standard: "columns standardised",
  rank: "columns by rank, for their long tails",
  log: "columns standardised, long tails by their logarithms",
};

/** What was decided and not asked: the scale, what is left out and why, devices, gaps and signs. */
function decisionsOf(
  columns: readonly ClassifiedColumn[],
  asked: ProposedOptions,
  options: ProposedOptions,
  reading: DialectOptions,
): string[] {
  const { scale = "none", missing, na, deviceColumn } = options;
  const left = columns.filter(({ role, why }) => !isFeatureRole(role) && role !== "device" && why !== undefined);
  const reasons = left.filter(({ why }) => why !== "left out as asked").map(({ name, why }) => `${name} (${why})`);
  const isOwnChoice = asked.columns === undefined && asked.exclude === undefined;
  return [
    ...(asked.scale === undefined ? [scaleWords[scale.split(":")[0]]] : []),
    ...(isOwnChoice && reasons.length > 0 ? [`without ${reasons.join(", ")}`] : []),
    ...(asked.deviceColumn === undefined && deviceColumn !== undefined ? [`devices by ${deviceColumn}`] : []),
    ...(asked.na === undefined && na !== undefined ? [`${na.join(", ")} taken as missing`] : []),
    ...(asked.missing === undefined && missing === "drop" ? ["rows with gaps dropped"] : []),
    ...(asked.missing === undefined && missing === "mean" ? ["gaps filled with means"] : []),
    ...(asked.decimal === undefined && reading.decimal === "," ? ["1,234 read as 1.234"] : []),
    ...(asked.decimal === undefined && reading.decimal === "." ? ["1,234 read as 1234"] : []),
    ...(asked.dates === undefined && reading.dates === "day-first" ? ["3/1 read as 3 January"] : []),
    ...(asked.dates === undefined && reading.dates === "month-first" ? ["3/1 read as 1 March"] : []),
    ...(asked.sheet === undefined && reading.sheet !== undefined ? ["each sheet a device"] : []),
    ...(asked.delimiter === undefined && reading.delimiter !== undefined ? ["spaces between cells"] : []),
    ...(asked.encoding === undefined && reading.encoding !== undefined ? [`text read as ${reading.encoding}`] : []),
  ];
}
