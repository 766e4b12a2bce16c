// The reader's own files: rows of numbers on one scale, one device for each file or for each value of a column, or one file
// dealt to several devices. Columns are judged as `fedkm inspect` judges them. The files stay in this browser.

import { type Matrix, splitEvenly } from "@fedkm/core";
import { csvRecordLine, type Scaling } from "@fedkm/files";
import {
  applyChosenScaling,
  chooseScaling,
  fitCommandLine,
  type ProposedOptions,
  proposeForFiles,
  readInput,
} from "@fedkm/tables";
import { limits, MOST_ROUNDS, type Setup } from "../engine/setup.ts";

/** What the reader has chosen; what is left out is proposed. */
export interface OwnChoice {
  readonly columns?: readonly string[] | undefined;
  /** The column that names each row's device; "": none does. */
  readonly deviceColumn?: string | undefined;
  readonly decimal?: "." | "," | undefined;
}

interface OwnColumn {
  readonly name: string;
  readonly isUsed: boolean;
  /** Of numbers, so that it can be used. */
  readonly isNumber: boolean;
  /** Why it is not used by itself, in a few words. */
  readonly why: string | undefined;
}

/** The reader's own rows, and what to call them. */
export interface OwnData {
  readonly name: string;
  readonly files: readonly File[];
  readonly choice: OwnChoice;
  readonly columns: readonly OwnColumn[];
  readonly deviceNames: readonly string[];
  /** Names of the columns that are clustered, and what put them on one scale. */
  readonly used: readonly string[];
  readonly scaling: Pick<Scaling, "offset" | "scale">;
  /** Of each device, as they were read, and on one scale. Empty where `refusal` says what to choose first. */
  readonly rows: readonly Matrix[];
  readonly datasets: readonly Matrix[];
  readonly refusal: string | undefined;
  /** What of the rows is not used. */
  readonly leftOut: string | undefined;
  /** Whether the rows of one file were dealt to devices: a command needs the file that says how. */
  readonly isDealt: boolean;
  readonly reading: ProposedOptions;
}

const SCALE = "standard";

/** `devices` and `k`: of one file that names no devices, to deal it to so many that each has rows for its clusters. */
export async function readOwn(
  files: readonly File[],
  devices: number,
  k = 1,
  choice: OwnChoice = {},
): Promise<OwnData> {
  const { decimal } = choice;
  const proposal = await proposeForFiles(files, decimal === undefined ? {} : { decimal });
  const deviceColumn = files.length > 1 ? "" : (choice.deviceColumn ?? proposal.options.deviceColumn ?? "");
  const numbers = (role: string) => role === "number" || role === "date";
  const proposed = proposal.columns.filter(({ role }) => numbers(role)).map(({ name }) => name);
  const used = (choice.columns ?? proposed).filter((name) => name !== deviceColumn);
  const columns = proposal.columns.map(({ name, role, why, isWordy }) => ({
    name,
    isUsed: used.includes(name),
    isNumber: numbers(role) || (role !== "category" && role !== "text" && isWordy !== true),
    why: why ?? (role === "device" ? "names the device" : role === "category" ? "words" : undefined),
  }));
  const { delimiter, header, na, dates, encoding, sheet, decimal: sign, missing = "drop" } = proposal.options;
  const dialect = Object.entries({ delimiter, header, na, dates, encoding, sheet, decimal: decimal ?? sign });
  const reading: ProposedOptions = {
    ...Object.fromEntries(dialect.filter(([, value]) => value !== undefined)),
    ...{ columns: used, missing, scale: SCALE },
    ...(deviceColumn !== "" && { deviceColumn }),
  };
  const known = { name: files.map(({ name }) => name).join(", "), files, columns, used, reading };
  const chosen = { ...choice, deviceColumn };
  try {
    if (used.length === 0) throw new RangeError("choose at least one column of numbers below");
    const rows = await rowsOf(files, reading, devices, k, choice.deviceColumn !== undefined);
    return { ...known, ...rows, choice: { ...chosen, ...(rows.isDealt && { deviceColumn: "" }) }, refusal: undefined };
  } catch (error) {
    const refusal = error instanceof Error ? error.message : String(error);
    const nothing = { deviceNames: [], rows: [], datasets: [], scaling: { offset: [], scale: [] }, isDealt: false };
    return { ...known, ...nothing, choice: chosen, leftOut: undefined, refusal };
  }
}

/** As the command reads them. `isChosen`: the reader has named the column of devices, and wants no other split. */
async function rowsOf(files: readonly File[], reading: ProposedOptions, devices: number, k: number, isChosen: boolean) {
  const { deviceColumn } = reading;
  const input = await readInput({ files, ...reading }, {}, { examine: false });
  const parts = input.devices.filter(({ points }) => points.rows > 0);
  const all = parts.reduce((sum, { points }) => sum + points.rows, 0);
  if (all === 0) throw new RangeError("no row has a number in every chosen column: leave out a column with gaps");
  if (all < 2) throw new RangeError("one row is not enough for two devices: choose a file with more rows");
  if (deviceColumn !== undefined && isChosen && parts.length === 1)
    throw new RangeError(`column ${deviceColumn} names one device only: choose another one below, or deal the rows`);
  if (parts.length > limits.devices.most) {
    const got = `${parts.length} devices, and the page can show ${limits.devices.most}`;
    throw new RangeError(`column ${deviceColumn} names ${got}: choose another one below, or deal the rows`);
  }
  const isDealt = parts.length === 1;
  const rows = isDealt ? dealt(parts[0].points, devices, k) : parts.map(({ points }) => points);
  const datasets = rows.map(({ data, ...shape }) => ({ ...shape, data: data.slice() }));
  const { scaling } = await chooseScaling(SCALE, input.encoding, datasets);
  applyChosenScaling(datasets, scaling);
  return {
    deviceNames: isDealt ? rows.map((_, i) => String(i)) : parts.map(({ name }) => name),
    rows,
    datasets,
    scaling,
    // A device without a whole row is one of the files, and none of the page.
    isDealt: isDealt || parts.length < input.devices.length,
    leftOut: input.dropped > 0 ? `rows with missing cells: ${input.dropped}` : undefined,
  };
}

/** In random order, so that a sorted file is no split by cluster; to fewer devices where each would have too few rows. */
function dealt(points: Matrix, devices: number, k: number): readonly Matrix[] {
  const labels = new Uint32Array(points.rows);
  const most = Math.max(2, Math.floor(points.rows / Math.max(1, k)));
  return splitEvenly({ points, labels }, Math.min(devices, most), 0).datasets;
}

/** A name that no column has yet. */
function freeName(name: string, used: readonly string[]): string {
  return used.includes(name) ? freeName(`${name}_`, used) : name;
}

const withoutEnding = (name: string) => name.replace(/\.[^.]*$/, "");

/** What the saved table is called. */
export function ownTableName({ files }: OwnData): string {
  return `${withoutEnding(files[0].name)}-devices.csv`;
}

/** All rows in the reader's units, with the device of each and, where they are known, its cluster. */
export function ownTable({ rows, deviceNames, used }: OwnData, clusters?: readonly ArrayLike<number>[]): string {
  const names = [freeName("device", used), ...used, ...(clusters ? [freeName("cluster", used)] : [])];
  const lines = rows.flatMap(({ data, rows: count, cols }, device) =>
    Array.from({ length: count }, (_, r) => {
      const values = Array.from(data.subarray(r * cols, (r + 1) * cols), String);
      return [deviceNames[device], ...values, ...(clusters ? [String(clusters[device][r])] : [])];
    }),
  );
  return [names, ...lines].map(csvRecordLine).join("");
}

/** Graphs that the command knows by a rule. */
const rules: Partial<Record<Setup["graph"], (setup: Setup) => string>> = {
  er: ({ density }) => `er:${density}`,
  ...{ complete: () => "complete", ring: () => "ring", path: () => "path", star: () => "star" },
};

/** The command that gives the same centroids, to the bit; undefined: what is shown has none. */
export function ownCommand(own: OwnData, setup: Setup): string | undefined {
  const { method, graph, k, alpha, seed, start, penalty, preset, schedule, privacy, robust, events } = setup;
  const rule = rules[graph];
  if (method !== "fedkm" || robust || events.length > 0 || rule === undefined || start === "aligned") return undefined;
  const reading = own.isDealt
    ? { columns: own.used, deviceColumn: freeName("device", own.used), scale: SCALE }
    : own.reading;
  const files = own.isDealt ? [ownTableName(own)] : own.files.map(({ name }) => name);
  const options = { ...reading, k, alpha, seed, graph: rule(setup), weighting: "device", asIs: true } as const;
  const isCommon = start === "auto" || start === "federated";
  const said = [
    `--rounds ${MOST_ROUNDS}`,
    ...(start === "auto" || (penalty !== "squared" && isCommon) ? [] : [`--init ${start}`]),
    ...(penalty === "squared" ? [] : [`--penalty ${penalty}`]),
    ...(preset === "dependable" ? [] : [`--preset ${preset}`]),
    ...(schedule === "cyclic" ? [] : [`--schedule ${schedule}`]),
    ...(privacy === "open" ? [] : [`--privacy ${privacy}`]),
  ];
  return `${fitCommandLine(files, options)} ${said.join(" ")}`;
}

/** The files of the last visit, kept by the browser on this machine, so that they are there after a reload. */
const STORE = "fedkm-own-files";

function withStore<Result>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<Result>) {
  return new Promise<Result>((resolve, reject) => {
    const opening = indexedDB.open(STORE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("files");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const request = ask(database.transaction("files", mode).objectStore("files"));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
      request.transaction?.addEventListener("complete", () => database.close());
    };
  });
}

type KeptFiles = Pick<OwnData, "files" | "choice">;

export async function keepOwn({ files, choice }: KeptFiles): Promise<void> {
  await withStore("readwrite", (store) => store.put({ files, choice }, "last"));
}

export async function keptOwn(): Promise<KeptFiles | undefined> {
  return withStore("readonly", (store) => store.get("last") as IDBRequest<KeptFiles | undefined>);
}
