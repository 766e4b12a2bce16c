// The reader's own files: rows of numbers on one scale, one device for each file or for each value of a column, or one file
// dealt to several devices. Columns are judged as `fedkm inspect` judges them. The files stay in this browser.

import { type Matrix, splitEvenly, takeRows } from "@fedkm/core";
import { applyScaling, completeTableRows, type DialectOptions, readTable, standardScaling } from "@fedkm/files";
import { proposeForFiles } from "@fedkm/tables";

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
  /** The first rows of the columns in use, as they were read. */
  readonly preview: readonly (readonly number[])[];
  readonly deviceNames: readonly string[];
  /** Empty where `refusal` says what to choose first. */
  readonly datasets: readonly Matrix[];
  readonly refusal: string | undefined;
  /** What of the rows is not used. */
  readonly leftOut: string | undefined;
}

const PREVIEW = 3;

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
  const known = { name: files.map(({ name }) => name).join(", "), files, choice: { ...choice, deviceColumn }, columns };
  const nothing = { preview: [], deviceNames: [], datasets: [], leftOut: undefined };
  if (used.length === 0) return { ...known, ...nothing, refusal: "choose at least one column of numbers below" };
  const { delimiter, header, na, dates, encoding, sheet, decimal: sign } = proposal.options;
  const dialect: DialectOptions = Object.fromEntries(
    Object.entries({ delimiter, header, na, dates, encoding, sheet, decimal: decimal ?? sign }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  try {
    return { ...known, ...(await rowsOf(files, { ...dialect, columns: used }, deviceColumn, devices, k)) };
  } catch (error) {
    return { ...known, ...nothing, refusal: error instanceof Error ? error.message : String(error) };
  }
}

async function rowsOf(
  files: readonly File[],
  reading: DialectOptions & { readonly columns: readonly string[] },
  deviceColumn: string,
  devices: number,
  k: number,
) {
  const parts: { readonly name: string; readonly points: Matrix }[] = [];
  let incomplete = 0;
  let preview: number[][] = [];
  for (const file of files) {
    const table = await readTable(file, { ...reading, ...(deviceColumn === "" ? {} : { deviceColumn }) });
    const complete = completeTableRows(table);
    const kept = Array.from({ length: table.points.rows }, (_, r) => r).filter((r) => complete?.[r] !== 0);
    incomplete += table.points.rows - kept.length;
    const { data, cols } = table.points;
    if (preview.length === 0)
      preview = kept.slice(0, PREVIEW).map((r) => Array.from(data.subarray(r * cols, (r + 1) * cols)));
    const names = table.devices?.names ?? [file.name];
    for (const [i, name] of names.entries()) {
      const own = kept.filter((r) => table.devices === undefined || table.devices.of[r] === i);
      if (own.length > 0) parts.push({ name, points: takeRows(table.points, own) });
    }
  }
  if (parts.length === 0)
    throw new RangeError("no row has a number in every chosen column: leave out a column with gaps");
  const isDealt = parts.length === 1;
  const datasets = isDealt ? dealt(parts[0].points, devices, k) : parts.map(({ points }) => points);
  const scaling = standardScaling(datasets);
  for (const points of datasets) applyScaling(points, scaling);
  return {
    preview,
    deviceNames: isDealt ? [] : parts.map(({ name }) => name),
    datasets,
    refusal: undefined,
    leftOut: incomplete > 0 ? `rows with missing cells: ${incomplete}` : undefined,
  };
}

/** In random order, so that a sorted file is no split by cluster; to fewer devices where each would have too few rows. */
function dealt(points: Matrix, devices: number, k: number): readonly Matrix[] {
  const labels = new Uint32Array(points.rows);
  const most = Math.max(1, Math.floor(points.rows / Math.max(1, k)));
  return splitEvenly({ points, labels }, Math.min(devices, most), 0).datasets;
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
