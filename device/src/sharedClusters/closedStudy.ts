// The closed study that follows from an open one and what its network has found out: bounds, scales, fills and levels, the
// same bits on every device; and what a person should know before approving of it.

import { OTHER_VALUE } from "@fedkm/files";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalStudy, type Feature, parseStudy, type Study, studyRecord } from "../study/study.ts";
import { HASH_BYTES } from "../wire/frames.ts";
import type { CategoryDescription, Description, NumberDescription, UnlikeColumn } from "./description.ts";

/** A column with more gaps than the larger share is left out, with more than the smaller one named. */
const MOST_GAPS = 0.8;
const MANY_GAPS = 0.5;
/** Where rows are told in groups, the outermost rows may lie an octave beyond the means of theirs. */
const GROUP_ROOM = 2;

export interface ClosedStudy {
  /** Undefined: no column can be used. */
  readonly study: Study | undefined;
  /** Of columns, a sentence each. */
  readonly remarks: readonly string[];
}

/** `hash`: of the open study, which the closed one names. */
export function closedStudy(open: Study, hash: string, description: Description): ClosedStudy {
  const remarks: string[] = [];
  let next = 0;
  const features = open.features.flatMap((feature): Feature[] => {
    if (feature.open === undefined) return [feature];
    const column = description.columns[next++];
    const why = column && unusable(column, description.rows);
    if (why !== undefined) {
      remarks.push(`column "${feature.name}" is left out: ${why}`);
      return [];
    }
    const gaps = column.gaps / Math.max(1, description.rows);
    if (gaps > MANY_GAPS)
      remarks.push(
        `column "${feature.name}" has no value in ${Math.round(100 * gaps)} % of the rows, which take its mean`,
      );
    return column.kind === "number"
      ? [numberFeature(open, feature, column, description.rows)]
      : levelFeatures(open, feature, column, description.rows);
  });
  if (features.length === 0) return { study: undefined, remarks };
  // Checked like any study, so that what no study may say is not said here.
  return { study: answeredStudy({ ...open, features }, hash), remarks };
}

/** The same with a k that its owners approved of. */
export function studyWithK({ leastK, ...open }: Study, hash: string, k: number): Study {
  return answeredStudy({ ...open, k }, hash);
}

function answeredStudy(study: Study, hash: string): Study {
  return parseStudy(
    JSON.stringify({ ...studyRecord(study), typicalRows: study.typicalRows ?? undefined, answers: hash }),
  );
}

/** Its hash, as devices name it. */
export function closedStudyHash(study: Study): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalStudy(study))).slice(0, HASH_BYTES));
}

/** Why a column cannot be clustered; undefined: it can. */
function unusable(column: NumberDescription | CategoryDescription, rows: number): string | undefined {
  if (column.gaps > MOST_GAPS * rows) return `it has no value in ${column.gaps} of ${rows} rows`;
  if (column.kind === "number") {
    if (column.present === 0) return "nobody tells a value of it";
    return column.variance > 0 ? undefined : "it has one value only";
  }
  if (column.levels.length === 0) return "no value of it is held by rows enough to be told";
  return column.levels.length === 1 && column.rare === 0 ? "it has one value only" : undefined;
}

/** As `fit --scale standard --missing mean`: gaps take the mean, and the spread is that of all rows. */
function numberFeature(
  { missing, privacy }: Study,
  { name, unit }: Feature,
  { low, high, mean, variance, present, gaps }: NumberDescription,
  rows: number,
): Feature {
  const room = privacy === "open" ? 1 : GROUP_ROOM;
  const widened = (edge: number, side: number) => (edge * side > 0 ? edge * room : edge / room);
  const all = missing === "mean" ? Math.max(rows, present + gaps) : present;
  return {
    name,
    unit,
    min: Math.max(-1e12, widened(low, -1)),
    max: Math.min(1e12, widened(high, 1)),
    scale: Math.sqrt((variance * present) / all),
    ...(missing === "mean" && { fill: mean }),
  };
}

/** One feature for each level, all on one scale, so that the category counts like one number. */
function levelFeatures(
  { missing }: Study,
  { name, unit }: Feature,
  { levels, rare, gaps }: CategoryDescription,
  rows: number,
): Feature[] {
  const told = [...levels, ...(rare > 0 ? [{ name: OTHER_VALUE, count: rare }] : [])];
  const present = told.reduce((sum, { count }) => sum + count, 0);
  const shares = told.map(({ count }) => count / present);
  const spread = 1 - shares.reduce((sum, share) => sum + share ** 2, 0);
  const all = missing === "mean" ? Math.max(rows, present + gaps) : present;
  const scale = Math.sqrt((present / all) * spread);
  return told.map((level, i) => ({
    ...{ name: `${name}=${level.name}`, unit, min: 0, max: 1, scale },
    ...(missing === "mean" && { fill: shares[i] }),
    ...{ column: name, level: level.name },
  }));
}

/** What a person should know of own columns that are unlike those of all others. */
export function unlikeRemark({ column, distance, unit }: UnlikeColumn): string {
  const much = `${Math.round(100 * distance)} % of its rows lie apart from those of all others`;
  return unit === undefined ? `column "${column}" differs here: ${much}` : `column "${column}" looks ${unit}: ${much}`;
}
