// The study: the contract that all devices share. Read from study.yaml, checked, put into one canonical form and hashed.

import type { Coupling, Weighting } from "@fedkm/core";
import { MOST_GRID_COLUMNS } from "@fedkm/core/defaults";
import { printable } from "@fedkm/files/printable";
import { isNode, LineCounter, parseDocument, stringify } from "yaml";
import { type Contract, HASH_BYTES } from "../wire/frames.ts";
import { BOX_HALF_RANGES, LARGEST_FRAME_BYTES, MOST_ENTRIES } from "../wire/limits.ts";
import { frameBytes, sketchFrameBytes } from "../wire/studyFrames.ts";

const LEAST_EPSILON = 0.01;

/** What shared clusters have no use for. */
const noneShared = { alpha: 0, coupling: "nearest", weighting: "device" };

/** What not every study says, so that the hashes of the others stay as they were. */
function clusterFields(given: Fields, isShared: boolean, fail: Fail): Partial<Study> {
  if (!isShared) {
    const names = ["colluders", "seed", "devices", "sums", "founders", "vouchers", "mostRows", "books"];
    leftOut(given, names, 'unless clusters is "shared"', fail);
    return trustField(given, fail);
  }
  // Every row counts the same, and nothing pulls. The canonical text has these fields all the same.
  for (const [name, none] of Object.entries(noneShared)) {
    const got = given.value(name);
    if (got != null && got !== none) fail([name], 'left out if clusters is "shared"', got);
  }
  const isMany = (x: number) => Number.isInteger(x) && x >= 1 && x <= 1000;
  const colluders = given.number("colluders", isMany, "an integer from 1 to 1000", 1);
  const sums = given.value("sums") ?? "board";
  const isPrivate = given.value("privacy") === "private";
  if (sums !== "board" && sums !== "tree") fail(["sums"], "board or tree", sums);
  if (sums === "tree" && isPrivate) fail(["sums"], 'board with privacy "private" (all devices must be known)', sums);
  const trust = sums === "tree" ? trustField(given, fail) : {};
  if (sums === "tree" && trust.neighbours === undefined)
    fail(["sums"], "board unless neighbours is trusted (over a tree nobody can check the sums of others)", sums);
  if (sums === "board" && (given.value("neighbours") ?? "doubted") !== "doubted")
    fail(["neighbours"], "left out unless clusters are personal or sums is tree", given.value("neighbours"));
  const devices = isPrivate ? { devices: leastDevices(given, colluders, fail) } : {};
  if (!isPrivate) leftOut(given, ["devices"], 'unless privacy is "private"', fail);
  if (sums === "tree") leftOut(given, ["founders", "vouchers", "mostRows", "books"], "if sums is tree", fail);
  if (isPrivate) leftOut(given, ["books"], 'with privacy "private" (they would show a share of the noise)', fail);
  const books = given.value("books") ?? "asked";
  if (books !== "asked" && books !== "agreed") fail(["books"], "agreed or asked", books);
  const members = memberFields(given, colluders, devices.devices ?? 1, fail);
  return {
    clusters: "shared",
    colluders,
    ...trust,
    ...(sums === "tree" ? { sums } : {}),
    ...devices,
    ...members,
    ...(books === "agreed" ? { books } : {}),
  };
}

/** Who may take part from the beginning, how others come in, and how many rows each may hold. */
function memberFields(given: Fields, colluders: number, least: number, fail: Fail): Partial<Study> {
  const isRows = (x: number) => Number.isInteger(x) && x >= 1 && x <= LARGEST_VALUE;
  const most = "an integer from 1 to 1e12";
  const limit = given.value("mostRows") == null ? {} : { mostRows: given.number("mostRows", isRows, most) };
  const founders = given.value("founders");
  if (founders == null) {
    leftOut(given, ["vouchers"], "without founders", fail);
    return limit;
  }
  const isKey = (key: unknown) => typeof key === "string" && /^[\x21-\x7e]{1,100}$/.test(key);
  const rule = `a list of ${least} to ${MOST_ENTRIES} keys as "fedkm device key" prints them`;
  if (!Array.isArray(founders) || founders.length < least || founders.length > MOST_ENTRIES || !founders.every(isKey))
    return fail(["founders"], rule, founders);
  const keys: string[] = [...founders].sort();
  const twice = keys.find((key, n) => key === keys[n + 1]);
  if (twice !== undefined) fail(["founders"], "keys of different devices", twice);
  // With fewer, colluders alone could bring in whomever they invent.
  const isEnough = (x: number) => Number.isInteger(x) && x > colluders && x <= MOST_ENTRIES;
  const vouchersRule = `an integer from ${colluders + 1} (colluders and one other) to ${MOST_ENTRIES}`;
  return { founders: keys, vouchers: given.number("vouchers", isEnough, vouchersRule, colluders + 1), ...limit };
}

/** Whether members may lie, for the modes in which it makes a difference. */
function trustField(given: Fields, fail: Fail): Pick<Study, "neighbours"> {
  const neighbours = given.value("neighbours") ?? "doubted";
  if (neighbours !== "doubted" && neighbours !== "trusted") fail(["neighbours"], "doubted or trusted", neighbours);
  return neighbours === "trusted" ? { neighbours } : {};
}

/** With how many devices private rows are released, at least. */
function leastDevices(given: Fields, colluders: number, fail: Fail): number {
  leftOut(given, ["seed"], 'with privacy "private" (the first release says where to begin)', fail);
  const least = colluders + 2;
  const isEnough = (x: number) => Number.isInteger(x) && x >= least && x <= MOST_ENTRIES;
  return given.number("devices", isEnough, `an integer from ${least} (colluders and two others) to ${MOST_ENTRIES}`);
}

/** Where shared clusters begin, if the study says it. */
function seedField(given: Fields, { k, features }: Study, fail: Fail): number[][] | undefined {
  const value = given.value("seed");
  if (value === undefined || value === null) return undefined;
  const isInside = (row: unknown) =>
    Array.isArray(row) &&
    row.length === features.length &&
    row.every((x, f) => typeof x === "number" && x >= features[f].min && x <= features[f].max);
  const rule = `${k} rows of ${features.length} numbers within the bounds of the features`;
  if (!Array.isArray(value) || value.length !== k || !value.every(isInside)) return fail(["seed"], rule, value);
  return value;
}

type Path = readonly (string | number)[];

/** Throws the one line of an error: rule and value of the field at a path. */
type Fail = (path: Path, rule: string, got: unknown) => never;

/** `where` gives the line of a field, if it has one. */
function failWith(where: (path: Path) => string): Fail {
  return (path, rule, got) => {
    const name = path.reduce<string>((text, part) => {
      if (typeof part === "number") return `${text}[${part}]`;
      return text === "" ? part : `${text}.${part}`;
    }, "");
    throw new RangeError(`${name || "study"} must be ${rule}, got ${showValue(got)}${where(path)}`);
  };
}

/** The fields of one object, by name. */
interface Fields {
  /** As it stands there. */
  value(name: string): unknown;
  number(name: string, isMet: (value: number) => boolean, rule: string, or?: number): number;
  text(name: string, shortest: number, longest: number): string;
}

/** The fields of an object at a path, in which nothing but the known ones may stand. */
function fieldsOf(value: unknown, path: Path, known: readonly string[], fail: Fail): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail(path, `a list of fields (${known.join(", ")})`, value);
  }
  const given = value as Record<string, unknown>;
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined) fail([...path, stranger], `left out (fields are ${known.join(", ")})`, given[stranger]);
  return {
    value: (name) => given[name],
    number(name, isMet, rule, or) {
      const got = given[name] ?? or;
      return typeof got === "number" && Number.isFinite(got) && isMet(got) ? got : fail([...path, name], rule, got);
    },
    text(name, shortest, longest) {
      const got = given[name] ?? (shortest === 0 ? "" : undefined);
      const fits = typeof got === "string" && got.length >= shortest && got.length <= longest;
      const rule = `a text of ${shortest} to ${longest} printable characters`;
      // Names are printed in terminals and logs.
      return fits && !/\p{Cc}/u.test(got) ? got : fail([...path, name], rule, got);
    },
  };
}

function leftOut(given: Fields, names: readonly string[], when: string, fail: Fail): void {
  for (const name of names) if (given.value(name) != null) fail([name], `left out ${when}`, given.value(name));
}

function showValue(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "number") return String(value);
  const text = printable(JSON.stringify(value));
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** A column of a study. */
export interface Feature {
  readonly name: string;
  readonly unit: string;
  /** Values a device may hold, in `unit`. */
  readonly min: number;
  readonly max: number;
  /** A difference of this many units counts as 1. */
  readonly scale: number;
  /** What stands for a missing cell. Absent: a file with one is refused. */
  readonly fill?: number;
  /** Of a category: its column, and the value for which this feature is 1; "*" stands for all others. */
  readonly column?: string;
  readonly level?: string;
  /** Its devices find out together what the column holds; until then min, max and scale say nothing. */
  readonly open?: "number" | "category";
}

/** open: exact. guarded: no fewer than `minimum` rows can be told apart. private: differentially private. */
type Privacy = "open" | "guarded" | "private";

/** What all devices of a network agreed on. */
export interface Study {
  readonly name: string;
  /** The largest, where it is left open. */
  readonly k: number;
  /** Its devices find out together how many clusters there are, from so many to k. Absent: k. */
  readonly leastK?: number;
  readonly features: readonly Feature[];
  readonly alpha: number;
  readonly coupling: Coupling;
  readonly weighting: Weighting;
  /** With weighting "sample" such a device weighs 1; private releases are made for it. Nobody knows the true mean. */
  readonly typicalRows: number | null;
  readonly privacy: Privacy;
  /** A device with fewer than k times as many rows passes on what it hears, but sends nothing of its own. */
  readonly minimum: number;
  /** One clustering for all, as of all rows together. Absent: each device has its own, which neighbours pull. */
  readonly clusters?: "shared";
  /** Nobody in the network lies: all neighbours count in full. Absent: what is far from the others is held back. */
  readonly neighbours?: "trusted";
  /** With shared clusters: so many devices may put together what they know. */
  readonly colluders?: number;
  /** With shared clusters: where they begin, in the features' units. Absent: sums over all rows say it. */
  readonly seed?: readonly (readonly number[])[];
  /** With shared clusters: how sums find each other. Absent: everybody sees the entries of all. */
  readonly sums?: "tree";
  /** With shared clusters and privacy "private": rows are released with so many devices at least. */
  readonly devices?: number;
  /** With shared clusters: keys of those who are members from the beginning, sorted. Absent: whoever is linked counts. */
  readonly founders?: readonly string[];
  /** With founders: so many members must vouch for another one. */
  readonly vouchers?: number;
  /** With shared clusters: rows that a member may hold, unless its admission says another number. */
  readonly mostRows?: number;
  /** What becomes of missing cells: they take the mean over all devices. Absent: a file with one is refused. */
  readonly missing?: "mean";
  /** With shared clusters of open rows: the answer is validated, by so many replicates. Absent: it is not. */
  readonly validate?: number;
  /** The hash of the study whose open questions this one answers. */
  readonly answers?: string;
  /** With shared clusters: in a dispute everybody sees what each device added. Absent: only of whom its owner lets it see. */
  readonly books?: "agreed";
  /** With privacy "private": what all releases of one version of a device's rows cost, and all that it ever makes. */
  readonly epsilon?: number;
  readonly delta?: number;
  readonly lifetimeEpsilon?: number;
  /** With privacy "private": what one budget covers, all rows of a person or, with shared clusters, of a device. Absent: a row. */
  readonly protects?: "persons" | "devices";
  /** Of the data, where persons are protected: whose each row is. */
  readonly personColumn?: string;
}

/** The same with every number: what is not in the study is the default. */
export function budgetOf(study: Pick<Study, "epsilon" | "delta" | "lifetimeEpsilon">) {
  const { epsilon = 1, delta = 1e-5, lifetimeEpsilon = 4 * epsilon } = study;
  return { epsilon, delta, lifetime: lifetimeEpsilon };
}

const LARGEST_TEXT = 1 << 16;
const LARGEST_VALUE = 1e12;
// In the order of the canonical text.
const fields = [
  ...["name", "k", "features", "alpha", "coupling", "weighting", "typicalRows", "privacy", "minimum"],
  ...["epsilon", "delta", "lifetimeEpsilon", "clusters", "colluders", "seed", "devices", "sums", "neighbours"],
  ...["founders", "vouchers", "mostRows", "books", "protects", "personColumn", "missing", "answers", "validate"],
];
const featureFields = ["name", "unit", "min", "max", "scale", "fill", "column", "level"];
/** What stands in the place of numbers that devices find out together. */
const NETWORK = "network";
const openFields = { number: { bounds: NETWORK, scale: NETWORK }, category: { levels: NETWORK } };

/** The study of a YAML (or JSON) text; an error names field, rule, value and line. */
export function parseStudy(text: string): Study {
  if (text.length > LARGEST_TEXT) {
    throw new RangeError(`study must have at most ${LARGEST_TEXT} characters, got ${text.length}`);
  }
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const lineAt = (offset: number) => `, line ${lines.linePos(offset).line}`;
  const [error] = parsed.errors;
  if (error !== undefined) {
    throw new SyntaxError(`study must be YAML, got: ${error.message.split("\n")[0]}${lineAt(error.pos[0])}`);
  }
  return checkedStudy(parsed.toJS({ maxAliasCount: 0 }), (path) => {
    const node = parsed.getIn(path, true);
    return isNode(node) && node.range ? lineAt(node.range[0]) : "";
  });
}

function checkedStudy(value: unknown, where: (path: Path) => string): Study {
  const fail = failWith(where);
  const given = fieldsOf(value, [], fields, fail);
  const integer = (name: string, low: number, high: number, or?: number) =>
    given.number(name, (x) => Number.isInteger(x) && x >= low && x <= high, `an integer from ${low} to ${high}`, or);
  const oneOf = <T extends string>(name: string, allowed: readonly T[], or?: T): T => {
    const got = given.value(name) ?? or;
    return allowed.includes(got as T) ? (got as T) : fail([name], `one of ${allowed.join(", ")}`, given.value(name));
  };
  const weighting = oneOf("weighting", ["device", "sample"], "device");
  const privacy = oneOf("privacy", ["open", "guarded", "private"]);
  const protects = oneOf("protects", ["rows", "persons", "devices"], "rows");
  const isTypical = weighting === "sample" || (privacy === "private" && protects !== "devices");
  if (!isTypical) {
    const when = 'unless weighting is "sample", or privacy is "private" and protects not "devices"';
    leftOut(given, ["typicalRows"], when, fail);
  }
  const isShared = oneOf("clusters", ["personal", "shared"], "personal") === "shared";
  const study: Study = {
    name: given.text("name", 1, 100),
    ...clusterNumber(given, integer, fail),
    features: featuresOf(given.value("features"), fail),
    alpha: isShared ? 0 : given.number("alpha", (x) => x >= 0 && x <= LARGEST_VALUE, "a number of at least 0"),
    coupling: oneOf("coupling", ["nearest", "transport"], "nearest"),
    weighting,
    typicalRows: isTypical ? integer("typicalRows", 1, LARGEST_VALUE) : null,
    privacy,
    minimum: integer("minimum", 1, 1e6, 10),
    ...gapFields(given, fail),
    ...validateField(given, isShared && privacy === "open" && given.value("sums") !== "tree", fail),
    ...budgetFields(given, privacy, fail),
    ...clusterFields(given, isShared, fail),
    ...protectionFields(given, protects, { isPrivate: privacy === "private", isShared }, fail),
  };
  if (isOpenStudy(study)) checkOpen(study, fail);
  if (privacy === "private") checkPrivate(study, fail);
  if (study.privacy === "guarded" && study.minimum < 2) {
    fail(["minimum"], 'at least 2 with privacy "guarded"', study.minimum);
  }
  const shape = { k: study.k, d: study.features.length };
  const bytes = frameBytes(shape) + sketchFrameBytes(shape);
  if (bytes > LARGEST_FRAME_BYTES)
    fail(["k"], `small enough for a frame of ${LARGEST_FRAME_BYTES} bytes, not ${bytes}`, study.k);
  const seed = seedField(given, study, fail);
  return seed === undefined ? study : { ...study, seed };
}

/** Whether its devices have something to find out before there can be clusters. */
export function isOpenStudy({ features, leastK }: Pick<Study, "features" | "leastK">): boolean {
  return leastK !== undefined || hasOpenColumns({ features });
}

/** Whether they must describe columns first, so that rows are taken as they stand in files. */
export function hasOpenColumns({ features }: Pick<Study, "features">): boolean {
  return features.some(({ open }) => open !== undefined);
}

/** More would take too many sums: tubes between clusters are counted for every k at once. */
const MOST_OPEN_CLUSTERS = 20;

/** k, or from where to where it is left open. */
function clusterNumber(
  given: Fields,
  integer: (name: string, low: number, high: number) => number,
  fail: Fail,
): Pick<Study, "k" | "leastK"> {
  const value = given.value("k");
  if (typeof value !== "object" || value === null) return { k: integer("k", 1, 65535) };
  const { from, to, ...others } = value as Record<string, unknown>;
  const isRange = Number.isInteger(from) && Number.isInteger(to) && Number(from) >= 1 && Number(from) < Number(to);
  if (!isRange || Number(to) > MOST_OPEN_CLUSTERS || Object.keys(others).length > 0)
    fail(["k"], `a number, or { from, to } with 1 <= from < to <= ${MOST_OPEN_CLUSTERS}`, value);
  return { k: Number(to), leastK: Number(from) };
}

/** As it is written. */
const clusterRecord = ({ k, leastK }: Pick<Study, "k" | "leastK">) =>
  leastK === undefined ? k : { from: leastK, to: k };

/** What cannot be asked of a network. */
function checkOpen({ privacy, sums, features, leastK }: Study, fail: Fail): void {
  const [field, what] = hasOpenColumns({ features }) ? ["features", NETWORK] : ["k", leastK];
  const why =
    field === "k" ? "sums with noise do not show gaps between clusters" : "histograms with noise are not made";
  const instead = field === "k" ? "say how many clusters there are" : "take bounds that are known without the rows";
  if (privacy === "private") fail([field], `given as numbers with privacy "private" (${why}: ${instead})`, what);
  if (sums === "tree") fail([field], "given as numbers if sums is tree", what);
}

function gapFields(given: Fields, fail: Fail): Pick<Study, "missing" | "answers"> {
  const missing = given.value("missing") ?? "refuse";
  if (missing !== "mean" && missing !== "refuse") fail(["missing"], "mean or refuse", missing);
  const answers = given.value("answers");
  const isHash = typeof answers === "string" && /^[0-9a-f]{32}$/.test(answers);
  if (answers != null && !isHash) fail(["answers"], "the hash of a study", answers);
  return { ...(missing === "mean" && { missing }), ...(isHash && { answers }) };
}

/** More replicates tell more of rows than they tell of clusters. */
const MOST_REPLICATES = 50;

function validateField(given: Fields, isPossible: boolean, fail: Fail): Pick<Study, "validate"> {
  if (given.value("validate") == null) return {};
  const when =
    'unless clusters is "shared", privacy "open" and sums a board (replicates of guarded rows would tell them apart)';
  if (!isPossible) leftOut(given, ["validate"], when, fail);
  const isMany = (x: number) => x === 0 || (Number.isInteger(x) && x >= 2 && x <= MOST_REPLICATES);
  return { validate: given.number("validate", isMany, `0 or an integer from 2 to ${MOST_REPLICATES} (replicates)`) };
}

export const FOUNDERS_RULE =
  'must be named with clusters "shared" and privacy "private": make the key of each device with "fedkm device key", and give the keys to "fedkm study init --founders"';

/** Whether its devices must be told who founded it: noise is shared among members, and none of them may be invented. */
export function needsFounders({ clusters, privacy, founders }: Study): boolean {
  return clusters === "shared" && privacy === "private" && founders === undefined;
}

/** The same with these founders, if it needs some. */
export function foundedStudy(study: Study, peers: readonly string[]): Study {
  const { colluders = 1 } = study;
  return needsFounders(study) ? { ...study, founders: [...peers].sort(), vouchers: colluders + 1 } : study;
}

/** Whether what leaves a device is written down before. */
export function keepsHistory({ privacy }: Study): boolean {
  return privacy !== "open";
}

/** What a private study promises; no other study has it, so that their hashes stay as they were. */
function budgetFields(given: Fields, privacy: Privacy, fail: Fail) {
  if (privacy !== "private") {
    leftOut(given, ["epsilon", "delta", "lifetimeEpsilon"], 'unless privacy is "private"', fail);
    return {};
  }
  const epsilon = given.number("epsilon", (x) => x > 0 && x <= 20, "a number above 0 and at most 20", 1);
  const delta = given.number("delta", (x) => x > 0 && x <= 1e-3, "a number above 0 and at most 0.001", 1e-5);
  const rule = `a number from ${epsilon} (epsilon) to 100`;
  const lifetimeEpsilon = given.number("lifetimeEpsilon", (x) => x >= epsilon && x <= 100, rule, 4 * epsilon);
  return { epsilon, delta, lifetimeEpsilon };
}

/** Whose rows count as one; whoever protects rows says nothing, so that the hashes of such studies stay as they were. */
function protectionFields(
  given: Fields,
  protects: "rows" | NonNullable<Study["protects"]>,
  { isPrivate, isShared }: { isPrivate: boolean; isShared: boolean },
  fail: Fail,
): Partial<Study> {
  if (!isPrivate && protects !== "rows") fail(["protects"], 'rows unless privacy is "private"', protects);
  if (!isShared && protects === "devices")
    fail(["protects"], 'rows or persons unless clusters is "shared" (a device alone would show nothing)', protects);
  if (protects !== "persons") {
    leftOut(given, ["personColumn"], 'unless protects is "persons"', fail);
    return protects === "rows" ? {} : { protects };
  }
  return { protects, personColumn: given.text("personColumn", 1, 100) };
}

/** Whether private rows are released in rounds of sums, or else as counts on a grid and means, which few columns allow. */
export function isReleasedInRounds({ features, clusters, protects }: Study): boolean {
  return clusters === "shared" || protects !== undefined || features.length > MOST_GRID_COLUMNS;
}

function checkPrivate(study: Study, fail: Fail): void {
  const { weighting, epsilon = 1 } = study;
  // Larger noise would not be whole numbers of a double.
  if (isReleasedInRounds(study) && epsilon < LEAST_EPSILON) {
    const when = `if clusters is "shared", protects is "persons" or features are more than ${MOST_GRID_COLUMNS}`;
    fail(["epsilon"], `at least ${LEAST_EPSILON} ${when}`, epsilon);
  }
  if (weighting === "sample") fail(["weighting"], '"device" with privacy "private" (sizes are not told)', weighting);
}

/** The YAML text of a study, which `parseStudy` reads back. */
export function formatStudy(study: Study): string {
  const { typicalRows, ...rest } = studyRecord(study);
  const said = typicalRows === null ? rest : { ...rest, typicalRows };
  if (study.clusters !== "shared") return stringify(said);
  const { alpha, coupling, weighting, ...shared } = said;
  return stringify(shared);
}

/** As it is written, in no particular order. */
export function studyRecord({ leastK, ...study }: Study) {
  return {
    ...study,
    k: clusterRecord({ k: study.k, ...(leastK !== undefined && { leastK }) }),
    features: study.features.map(featureRecord),
  };
}

function featuresOf(value: unknown, fail: Fail): Feature[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > 1024) {
    return fail(["features"], "a list of 1 to 1024 features", value);
  }
  const features = value.map((item, f): Feature => {
    const path = ["features", f];
    const given = fieldsOf(item, path, [...featureFields, "bounds", "levels"], fail);
    const open = openKind(given, path, fail);
    if (open !== undefined)
      return { name: given.text("name", 1, 100), unit: given.text("unit", 0, 40), min: 0, max: 1, scale: 1, open };
    const bound = (name: string, or?: number) =>
      given.number(name, (x) => Math.abs(x) <= LARGEST_VALUE, `a number from -1e12 to 1e12`, or);
    const min = bound("min");
    const max = bound("max");
    if (min >= max) fail([...path, "max"], `above min = ${min}`, max);
    const scale = bound("scale", 1);
    if (scale < 1e-12) fail([...path, "scale"], "a number from 1e-12 to 1e12", scale);
    const fill = given.value("fill") == null ? {} : { fill: bound("fill") };
    const isLevel = given.value("level") != null;
    const level = isLevel ? { column: given.text("column", 1, 100), level: given.text("level", 1, 100) } : {};
    if (!isLevel && given.value("column") != null)
      fail([...path, "column"], "left out without a level", given.value("column"));
    return { name: given.text("name", 1, 210), unit: given.text("unit", 0, 40), min, max, scale, ...fill, ...level };
  });
  features.forEach(({ name }, f) => {
    const first = features.findIndex((other) => other.name === name);
    if (first < f) fail(["features", f, "name"], `another than that of features[${first}]`, name);
  });
  return features;
}

/** What is left open in a feature; undefined: nothing. */
function openKind(given: Fields, path: Path, fail: Fail): Feature["open"] {
  for (const name of ["bounds", "levels"] as const) {
    const got = given.value(name);
    if (got == null) continue;
    if (got !== NETWORK) fail([...path, name], NETWORK, got);
    const taken = Object.keys(openFields[name === "bounds" ? "number" : "category"]);
    const stranger = featureFields.slice(2).find((field) => given.value(field) != null && !taken.includes(field));
    if (stranger !== undefined) fail([...path, stranger], `left out with ${name}: network`, given.value(stranger));
    if (name === "bounds" && given.value("scale") !== NETWORK)
      fail([...path, "scale"], "network with bounds: network", given.value("scale"));
    return name === "bounds" ? "number" : "category";
  }
  return undefined;
}

/** As it is written. */
function featureRecord({ open, ...feature }: Feature): Record<string, unknown> {
  if (open === undefined) return pick(feature, featureFields);
  return { ...pick(feature, ["name", "unit"]), ...openFields[open] };
}

/** The one text of a study: every field, defaults filled in, in a fixed order. Equal studies have equal texts. */
export function canonicalStudy(study: Study): string {
  return JSON.stringify(pick(studyRecord(study), fields));
}

function pick(from: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (from as Record<string, unknown>)[name]]));
}

/** The study in a peer's frame; undefined: it is none. */
export function heardStudy(text: string): Study | undefined {
  if (text.length > LARGEST_TEXT) return undefined;
  try {
    return checkedStudy(JSON.parse(text), () => "");
  } catch {
    return undefined;
  }
}

/** How a study differs from that in a peer's frame, in one line; undefined: not at all, or it is no study. */
export function differenceFrom(here: Study, text: string): string | undefined {
  const there = heardStudy(text);
  if (there === undefined) return undefined;
  const [first, second, ...more] = compareStudies(here, there);
  if (second === undefined) return first;
  return more.length === 0 ? `${first}; ${second}` : `${first}; ${second}; and ${more.length} more`;
}

/** What differs, field by field: `alpha: 1 here, 2 there`. */
export function compareStudies(here: Study, there: Study): string[] {
  const differences: string[] = [];
  const compare = (name: string, a: unknown, b: unknown) => {
    if (a !== b) differences.push(`${name}: ${showValue(a)} here, ${showValue(b)} there`);
  };
  const textOf = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : value);
  const [own, other] = [studyRecord(here), studyRecord(there)] as Record<string, unknown>[];
  for (const name of fields) if (name !== "features") compare(name, textOf(own[name]), textOf(other[name]));
  compare("number of features", here.features.length, there.features.length);
  for (let f = 0; f < Math.min(here.features.length, there.features.length); f++) {
    const [own, other] = [featureRecord(here.features[f]), featureRecord(there.features[f])];
    for (const name of new Set([...Object.keys(own), ...Object.keys(other)]))
      compare(`features[${f}].${name}`, own[name], other[name]);
  }
  return differences;
}

/** What two devices of this study must have in common to hear each other. */
export async function contractOf(study: Study): Promise<Contract> {
  const bytes = new TextEncoder().encode(canonicalStudy(study));
  return contractWith(study, new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, HASH_BYTES));
}

/** The same with a hash that is known, or that does not matter. */
export function contractWith(study: Study, hash: Uint8Array): Contract {
  const box = (side: 1 | -1) =>
    Float64Array.from(
      study.features,
      ({ min, max, scale }) => ((min + max) / 2 + (side * BOX_HALF_RANGES * (max - min)) / 2) / scale,
    );
  return { k: study.k, d: study.features.length, hash, low: box(-1), high: box(1) };
}

/**
 * Where robustness cannot hold: of two neighbours that differ nobody can say which one lies, in a star all depend on one, and
 * masks of too few members hide nothing. `members`: of now, in a study that has some.
 */
export function linkRemarks(study: Study, links: number, members?: number | null): string[] {
  const { clusters, neighbours, colluders = 1 } = study;
  if (clusters === "shared") {
    const least = colluders + 2;
    return (members ?? least) >= least
      ? []
      : [`fewer members than ${least} (colluders and two others) hide nothing from each other`];
  }
  if (neighbours === "trusted" || links === 0 || links > 2) return [];
  const hub = "with one link this device depends on one neighbour alone, like all others if that is the hub of a star";
  const few = "with fewer than three links a neighbour that lies cannot be told from the others";
  return links === 1 ? [few, hub] : [few];
}
