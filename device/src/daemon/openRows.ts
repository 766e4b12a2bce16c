// The rows of a device as it computes with them: read into memory, or left in the database that answers for them.

import { env } from "node:process";
import { type Matrix, stack } from "@fedkm/core";
import { gridsOf, joinSources, memorySource, type Source, statisticsOf } from "@fedkm/core/sources";
import { type OpenSource, openSource } from "@fedkm/sql";
import { isAddress } from "@fedkm/sql/address";
import { type Elsewhere, isElsewhere, type Rows } from "../elsewhere.ts";
import { reasonOf } from "../reason.ts";
import { hashBytes } from "../sketch.ts";
import type { Study } from "../study.ts";
import { scaleRows } from "../units.ts";
import type { DeviceFolder } from "./folder.ts";
import { readPoints } from "./points.ts";
import { countRows, type RowCounts } from "./rows.ts";
import { lookOf } from "./watch.ts";

interface OpenRows {
  readonly rows: Rows;
  readonly counts: RowCounts;
}

/** The rows of one device, for the study that it runs and the one that it is changing to. */
export interface RowsDesk {
  /** As they are now. Those before stay open until the next ones are. */
  open(study: Study): Promise<OpenRows>;
  /** Of the rows that are open for this study. */
  countsOf(study: Study): RowCounts | undefined;
  /** The rows do not answer, and are to be opened again as if they had changed. Returns it in words. */
  lose(reason: unknown): string;
  /** How the data look from outside: equal means unchanged. */
  look(): Promise<string>;
  /** Ends all that is asked. */
  close(): Promise<void>;
}

/** What rows a device would have. */
export async function lookAtRows({ data, study }: Pick<DeviceFolder, "data" | "study">): Promise<OpenRows> {
  const desk = rowsDesk(data);
  try {
    return await desk.open(study);
  } finally {
    await desk.close();
  }
}

/** How many of the rows that count are in each cluster of these centroids, which are scaled. */
export async function clusterSizes(folder: Pick<DeviceFolder, "data" | "study">, centroids: Matrix): Promise<number[]> {
  const desk = rowsDesk(folder.data);
  try {
    const { rows } = await desk.open(folder.study);
    const source = isElsewhere(rows) ? rows.source : memorySource(scaleRows(folder.study, rows));
    return Array.from((await statisticsOf(source, centroids)).counts);
  } finally {
    await desk.close();
  }
}

/** Whether rows can stay where they are. Guarded and private rows are needed one by one, and so are those of shared clusters. */
function canStay({ privacy, clusters }: Study): boolean {
  return privacy === "open" && clusters !== "shared";
}

/** What a person should know who has named a source. */
export function stayRemarks(data: readonly string[], study: Study): string[] {
  if (canStay(study) || !data.some(isAddress)) return [];
  const why = study.clusters === "shared" ? "shared clusters need" : `a ${study.privacy} study needs`;
  return [`the rows of sources are read into memory: ${why} them one by one`];
}

export function rowsDesk(data: readonly string[]): RowsDesk {
  const ending = new AbortController();
  let losses = 0;
  /** The latest, and those before it, of which an answer may be on its way. */
  const held = new Map<Study, (OpenRows & { readonly sources: readonly OpenSource[] })[]>();
  const closeAll = async (some: Iterable<{ readonly sources: readonly OpenSource[] }>) => {
    for (const { sources } of some) for (const source of sources) await source.close();
  };
  return {
    async open(study) {
      const opened = await openRows(data, study, ending.signal);
      const [latest, ...older] = held.get(study) ?? [];
      held.set(study, latest === undefined ? [opened] : [opened, latest]);
      await closeAll(older);
      return opened;
    },
    countsOf: (study) => held.get(study)?.[0].counts,
    lose(reason) {
      losses++;
      return `the rows do not answer, and nothing is computed until they do: ${reasonOf(reason)}`;
    },
    look: async () => `${await lookOf(data)}, lost ${losses} times`,
    async close() {
      ending.abort();
      await closeAll([...held.values()].flat());
    },
  };
}

/** All rows of files and sources. */
async function openRows(data: readonly string[], study: Study, signal: AbortSignal) {
  const opened: OpenSource[] = [];
  try {
    const places = await Promise.all(data.map((path) => openPlace(path, study, signal, opened)));
    const counts = sumOf(
      study,
      places.map((place) => place.counts),
    );
    const sources = places.flatMap(({ source }) => source ?? []);
    const matrices = places.flatMap(({ points }) => points ?? []);
    if (sources.length > 0) {
      const inMemory = matrices.map((points) => memorySource(scaleRows(study, points)));
      return { rows: await elsewhere([...sources, ...inMemory], counts, signal), counts, sources: opened };
    }
    const none = { data: new Float64Array(0), rows: 0, cols: study.features.length };
    return { rows: matrices.length > 0 ? stack(matrices) : none, counts, sources: opened };
  } catch (error) {
    for (const source of opened) await source.close();
    throw error;
  }
}

interface Place {
  readonly counts: RowCounts;
  /** One of them is there. */
  readonly points?: Matrix;
  readonly source?: Source;
}

async function openPlace(
  path: string,
  study: Study,
  signal: AbortSignal,
  /* IN OUT */ opened: OpenSource[],
): Promise<Place> {
  if (!isAddress(path) || !canStay(study)) return loaded(study, await readPoints(path, study));
  const { features } = study;
  const source = await openSource(path, { columns: features.map(({ name }) => name), env, signal });
  opened.push(source);
  // Nothing is asked of it any more, and it is closed with the others.
  if (source.read === "memory") return loaded(study, await source.sample(Math.max(1, source.rows)));
  const scaling = { offset: features.map(() => 0), scale: features.map(({ scale }) => scale) };
  const { source: within, outside } = await source.bounded(features, scaling);
  return { source: within, counts: { rows: source.rows, left: source.rows - within.rows, outside } };
}

function loaded(study: Study, points: Matrix): Place {
  return { points, counts: countRows(study, points) };
}

function sumOf({ features }: Study, all: readonly RowCounts[]): RowCounts {
  const total = (of: (counts: RowCounts) => number) => all.reduce((sum, counts) => sum + of(counts), 0);
  return {
    rows: total(({ rows }) => rows),
    left: total(({ left }) => left),
    outside: features.map((_, f) => total(({ outside }) => outside[f])),
  };
}

async function elsewhere(sources: readonly Source[], { left }: RowCounts, signal: AbortSignal): Promise<Elsewhere> {
  const used = sources.filter(({ rows }) => rows > 0);
  const source = used.length === 1 ? used[0] : joinSources(used.length === 0 ? sources : used);
  return { source, leftOut: left, fingerprint: await fingerprintOf(source, signal), signal };
}

/** By the extremes and the exact sums of all columns, which cost one pass. */
async function fingerprintOf(source: Source, signal: AbortSignal): Promise<number> {
  const { rows, cols, least, most } = source;
  if (rows === 0) return 0;
  const middle = { data: new Float64Array(cols), rows: 1, cols };
  const { sums } = await source.parts(middle, gridsOf(source), signal);
  return hashBytes(new Uint8Array(Float64Array.of(rows, ...least, ...most, ...sums).buffer), cols);
}
