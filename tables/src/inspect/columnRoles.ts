// What a column is for: a number, a date, a category, the device of a row, an answer, a weight, an id, a text, or nothing.
// One classifier for inspect, fit and choose, from what was seen of the column in all files.

import { defaultLimits } from "@fedkm/files";
import type { InspectedColumn, InspectedTable } from "./inspectTable.ts";

export type ColumnRole = "number" | "date" | "category" | "device" | "target" | "weight" | "id" | "text" | "nothing";

/** A column and what it seems to be for. */
export interface ClassifiedColumn {
  readonly name: string;
  readonly role: ColumnRole;
  /** Why it is no feature, in a few words. */
  readonly why?: string;
  /** Whether it holds words, whatever it is for. */
  readonly isWordy?: boolean;
  /** Words among its numbers that mean that nothing is known. */
  readonly codes: readonly string[];
}

/** The columns that are clustered. */
export function isFeatureRole(role: ColumnRole): boolean {
  return role === "number" || role === "date" || role === "category";
}

/** What a careful colleague would say about a column, in a few words. */
export function inspectedRemarks(own: InspectedColumn, { why, role }: ClassifiedColumn): string[] {
  return [
    ...(why === undefined ? (role === "device" ? ["names the device"] : []) : [why]),
    ...(own.sentinel === undefined ? [] : [`${own.sentinel.value} may mean missing`]),
    ...(hasLongTail(own) && role === "number" ? ["a long tail"] : []),
  ];
}

// Names in English, German, French and Spanish, since exports have the words of who made them.

const TARGET =
  /^(target|class|labels?|true_?label|ground_?truth|diagnos(is|e|tic)|outcome|response|species|variety|cultivar|survived|(is_?)?churn(ed)?|(is_?)?fraud|klasse|ziel|ergebnis|classe|cible|clase)$/i;
/** However many values it has. */
const MEASURED_TARGET = /^(target|ziel|cible)$/i;
const WEIGHT =
  /^((sampl(e|ing)|survey|case|design|person|freq(uency)?|final|expansion)[ _-]?(weight|wt|wgt|factor)|fnlwgt|pweight|pspwght|gewichtung|(facteur|factor)[ _-]?(de[ _-]?)?(pond[eé]ration|expansi[oó]n)|poids[ _-]?sondage)$/i;
const DEVICE =
  /^(place|site|hospital|clinic|cent(re|er)|facility|station|branch|store|shop|school|device|location|machine|sensor|logger|warehouse|depot|factory|lab|laboratory|office|practice|ward|standort|klinik|krankenhaus|werk|filiale|schule|praxis|lager|maschine|h[oô]pital|magasin|agence|lieu|usine|capteur|[eé]tablissement|[eé]cole|sucursal|tienda|centro|f[aá]brica|escuela)$/i;
/** Of goods or of rows: these are 1 on average. */
const ANY_WEIGHT = /^(weights?|wt|wgt|poids|gewicht|peso)$/i;
/** What a name of such a column has besides. */
const ADDED = /^(id|name|code|nr|no|nbr|num|number|nummer|key|of|the|my|nom|du|de|numero|numéro|número)$/i;
const ID =
  /(^|[^a-z])(id|ids|uuid|guid|key|nr|no|index|nummer|numéro|número)([^a-z]|$)|[a-z]I[dD]([^a-z]|$)|(nummer|nr\.?|number)$|^(unnamed: ?\d+|index|row)$/i;
const CODE =
  /^(zip|zip[ _-]?code|post(al)?[ _-]?code|postcode|plz|postleitzahl|code[ _-]?postal|cp|phone|tel(ephone|efon)?|fax|mobile|handy|fips|sku|ean|isbn|iban|ssn|vin|mrn|ip)([ _-]?(no|nr|number|address))?$/i;
const NAMING =
  /^((first|last|sur|full|user|customer|patient|nick|vor|nach)[ _-]?name|name|nom|pr[eé]nom|nombre|apellido|e-?mail|address|adresse|street|stra(ß|ss)e|rue|url|link|website|comments?|notes?|notiz|bemerkung|kommentar|commentaire|description|beschreibung|remarks?|title|titel)$/i;

/** More values than this are measured, and not classes or devices. */
const FEW = 50;
/** Fewer rows a value than this are no device. */
const ROWS_OF_DEVICE = 10;
/** So few values are a category however many rows there are; more of them need this many rows each. */
const FEW_WORDS = 20;
const ROWS_OF_WORD = 20;
/** Above this share of missing cells a column says more about who filled it in than about rows. */
const MOSTLY_MISSING = 0.5;

const distinctOf = ({ words, statistics }: InspectedColumn) => words?.distinct ?? statistics?.distinct ?? 0;
const isWordy = ({ kind }: InspectedColumn) => kind === "text" || kind === "boolean";

/** In the order of the first file; then the columns that only others have. */
export function classifyColumns(looks: readonly InspectedTable[]): ClassifiedColumn[] {
  const names = [...new Set(looks.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const isSplit = looks.length > 1 || (looks[0]?.layout.parts?.length ?? 1) > 1;
  const device = isSplit ? undefined : deviceOf(looks[0]);
  const rows = looks.reduce((sum, look) => sum + look.rows, 0);
  return names.map((name) => {
    const own = looks.flatMap((look) => look.columns.find((column) => column.name === name) ?? []);
    const isTwice = looks.some(({ columns }) => columns.filter((column) => column.name === name).length > 1);
    if (name === device) return { name, role: "device", codes: [], isWordy: isWordy(own[0]) };
    const nothing = (why: string) => ({ name, role: "nothing" as const, why, codes: [] });
    if (own.length < looks.length) return nothing("not in every file");
    if (isTwice) return nothing("there twice");
    if (own.some(({ kind }) => kind !== own[0].kind)) return nothing("of different types");
    return { name, codes: [], isWordy: isWordy(own[0]), ...roleOf(name, own, rows, isSplit) };
  });
}

type Role = Omit<ClassifiedColumn, "name" | "codes"> & { readonly codes?: readonly string[] };

function roleOf(name: string, own: readonly InspectedColumn[], rows: number, isSplit: boolean): Role {
  const nothing = (why: string) => ({ role: "nothing", why }) as const;
  const id = (why = "an id") => ({ role: "id", why }) as const;
  const [first] = own;
  const distinct = Math.max(...own.map(distinctOf));
  const total = (count: (column: InspectedColumn) => number) => own.reduce((sum, column) => sum + count(column), 0);
  const missing = total((column) => column.missing ?? 0);
  const bad = total((column) => column.bad);
  if (first.kind === "other") return nothing("neither numbers nor words");
  if (distinct === 0) return nothing("empty");
  if (MEASURED_TARGET.test(name) || (TARGET.test(name) && distinct <= FEW))
    return { role: "target", why: "an answer to hold clusters against" };
  if (WEIGHT.test(name) || (ANY_WEIGHT.test(name) && own.every(isOneOnAverage)))
    return { role: "weight", why: "a weight of rows" };
  if (own.every((column) => column.isConstant || distinctOf(column) === 1)) {
    return nothing(isSplit && namesFiles(own) ? "names the file" : "constant");
  }
  if (own.every(({ countsRows }) => countsRows)) return id("counts the rows");
  if (own.every(({ namesRows }) => namesRows)) return id();
  if (own.every(({ copyOf }) => copyOf !== undefined)) return nothing(`same as ${first.copyOf}`);
  if (missing > MOSTLY_MISSING * rows) return nothing("mostly missing");
  if (isSplit && isDeviceName(name) && distinct <= FEW) return nothing("files are the devices");
  if (isWordy(first) || first.kind === "decimal commas") return wordRole(name, own, distinct, rows);
  if (first.isCode || CODE.test(name)) return distinct > FEW_WORDS ? id("a code") : { role: "category" };
  const isWhole = own.every(({ statistics }) => statistics?.isWhole === true);
  if (first.kind === "number" && isWhole && ID.test(name) && distinct > FEW_WORDS) return id();
  if (bad === 0) return { role: first.kind === "date" ? "date" : "number" };
  return unreadRole(own, distinct, bad, rows);
}

function isOneOnAverage({ statistics, range }: InspectedColumn): boolean {
  const isPositive = range !== undefined && range.least > 0;
  return isPositive && statistics?.isWhole === false && Math.abs(statistics.mean - 1) <= 0.02;
}

/** Devices named in a column of every file, one each. */
function namesFiles(own: readonly InspectedColumn[]): boolean {
  const values = own.map(({ words, range }) => words?.most ?? range?.least);
  return new Set(values).size > 1;
}

function wordRole(name: string, own: readonly InspectedColumn[], distinct: number, rows: number): Role {
  const letters = Math.max(...own.map(({ words }) => words?.letters ?? 0));
  const isShared = distinct <= FEW_WORDS ? rows + 1 >= 2 * distinct : rows >= ROWS_OF_WORD * distinct;
  const isNamed = (NAMING.test(name) || ID.test(name) || CODE.test(name)) && distinct > FEW_WORDS;
  if (isShared && !isNamed && distinct <= defaultLimits.values) return { role: "category" };
  if (letters > LONG) return { role: "text", why: "free text" };
  return 2 * distinct > rows || isNamed
    ? { role: "id", why: "an id or a name" }
    : { role: "text", why: "too many values" };
}

/** Longer words on average are sentences. */
const LONG = 25;

/** A few words among numbers mean that nothing is known; among few numbers, as of cylinders, they are values like them. */
const MOST_CODES = 8;
const MOST_UNREAD = 0.1;
const UNKNOWN =
  /^([-–—.*_x?#]+|n\.?\/?a\.?|k\.? ?a\.?|un\w+|missing|inconnu|none|not .*|null|tbd|nd|n\.d\.|[<>].*|#.*)$/i;

function unreadRole(own: readonly InspectedColumn[], distinct: number, bad: number, rows: number): Role {
  const codes = [...new Set(own.flatMap(({ unread = [] }) => unread))];
  const isUnknown = codes.every((word) => UNKNOWN.test(word));
  const isWhole = own.every(({ statistics }) => statistics?.isWhole === true);
  if (!isUnknown && isWhole && distinct <= FEW_WORDS / 2 && codes.length <= FEW_WORDS / 2) return { role: "category" };
  const isFew = codes.length > 0 && codes.length <= MOST_CODES;
  if (isFew && (isUnknown || bad <= MOST_UNREAD * rows))
    return { role: own[0].kind === "date" ? "date" : "number", codes };
  return { role: "nothing", why: `${bad} cells cannot be read` };
}

// The device column: named so, or few values in blocks of about the same length at the front of the file.

function deviceOf({ columns, rows }: InspectedTable): string | undefined {
  const candidates = columns.filter((own) => mayNameDevices(own, rows));
  const named = candidates.find(({ name }) => isDeviceName(name));
  const [first] = columns;
  return (named ?? (candidates.includes(first) && isInBlocks(first, rows) ? first : undefined))?.name;
}

function mayNameDevices(own: InspectedColumn, rows: number): boolean {
  const devices = distinctOf(own);
  const isFew = devices > 1 && devices <= FEW && rows >= ROWS_OF_DEVICE * devices;
  return isFew && ["text", "number"].includes(own.kind) && own.missing === 0 && own.bad === 0 && !TARGET.test(own.name);
}

/** Such as hospital, site_id, Name of clinic and storeNbr. */
function isDeviceName(name: string): boolean {
  const words = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").split(/[^\p{L}\d]+/u);
  const telling = words.filter((word) => word !== "" && !ADDED.test(word));
  return telling.length === 1 && DEVICE.test(telling[0]);
}

/** Blocks differ by at most this share of their mean. */
const UNEVEN = 0.2;
const FEWEST_BLOCKS = 3;

function isInBlocks(own: InspectedColumn, rows: number): boolean {
  const { blocks } = own;
  const devices = distinctOf(own);
  if (blocks === undefined || blocks.count !== devices || devices < FEWEST_BLOCKS) return false;
  const mean = rows / devices;
  return blocks.most <= (1 + UNEVEN) * mean && blocks.least >= (1 - UNEVEN) * mean;
}

// The scale: columns of different units are given the same say, and columns of one unit are left as they are.

/** Few values far from all others would decide alone. */
function hasLongTail({ statistics, sentinel }: InspectedColumn): boolean {
  return statistics !== undefined && Math.abs(statistics.skew) > LOPSIDED && sentinel === undefined;
}

/** Columns with more cubes than this have a tail that decides alone. */
const LOPSIDED = 3;

/** Of columns that are no categories, each as all files have it. */
export function likelyScale(
  numbers: readonly (readonly InspectedColumn[])[],
  hasCategories: boolean,
): { readonly scale: string; readonly logarithms: readonly string[] } {
  // Dark pixels and rare answers are no tails.
  if (!hasCategories && isOneScale(numbers)) return { scale: "none", logarithms: [] };
  const tails = numbers.filter((own) => own.some(hasLongTail));
  const isPositive = tails.every((own) =>
    own.every(({ range, kind }) => kind === "number" && range && range.least > 0),
  );
  if (tails.length > 0) {
    return isPositive
      ? { scale: "log", logarithms: tails.map(([{ name }]) => name) }
      : { scale: "rank", logarithms: [] };
  }
  const isOne = !hasCategories && numbers.length > 1 && haveOneUnit(numbers);
  return { scale: isOne ? "none" : "standard", logarithms: [] };
}

const NAMED_UNIT =
  /(?:[_ .([-])(°?[cf]|deg|[kcm]?m|[mk]?g|lbs?|oz|ml|l|ms|s|sec|min|h|hours?|hrs?|days?|years?|pct|percent|%|usd|eur|gbp|chf|[$€£]|k?wh?|mb|gb|db|px|count|ppm|mmol|mgl)[)\]]?$/i;

/** Above this ratio of deviations one column has all the say, whatever its unit. */
const LARGEST_RATIO = 10;

function haveOneUnit(numbers: readonly (readonly InspectedColumn[])[]): boolean {
  if (numbers.some((own) => own.some(({ kind }) => kind === "date"))) return false;
  if (numbers.every(([{ name }]) => /^(lat|lon|lng)(itude|gitude|g)?$/i.test(name))) return true;
  const units = new Set(numbers.map(([{ name, form }]) => form?.unit ?? NAMED_UNIT.exec(name)?.[1].toLowerCase()));
  const deviations = numbers.map((own) => Math.max(...own.map(({ statistics }) => statistics?.deviation ?? 0)));
  const isAlike = Math.max(...deviations) <= LARGEST_RATIO * Math.min(...deviations);
  return units.size === 1 && !units.has(undefined) && isAlike;
}

/** Pixels, marks and answers from 1 to 5: a scale of few whole numbers, which nearly all begin and many go through. */
function isOneScale(numbers: readonly (readonly InspectedColumn[])[]): boolean {
  const ranges = numbers.map((own) => {
    const all = own.flatMap(({ range }) => range ?? []);
    return { least: Math.min(...all.map(({ least }) => least)), most: Math.max(...all.map(({ most }) => most)) };
  });
  const isWhole = numbers.every((own) => own.every(({ statistics }) => statistics?.isWhole === true));
  const least = Math.min(...ranges.map((own) => own.least));
  const most = Math.max(...ranges.map((own) => own.most));
  const begin = ranges.filter((own) => own.least === least).length;
  const end = ranges.filter((own) => own.most === most).length;
  const isScale = numbers.length > 2 && isWhole && most - least <= 255 && most > least;
  return isScale && begin >= 0.8 * ranges.length && end >= 0.3 * ranges.length;
}
