// From snapshots of clusters to single rows: what differs between two snapshots by one row is that row.

import { type Rules, readingsOf, type Snapshot, sumsOf } from "./inversion.ts";
import type { Message } from "./seen.ts";

/** A row that an attacker believes to have found, in the scaled units of the study. */
export interface RowClaim {
  readonly how: "added" | "deleted" | "moved";
  /** The number of the message that gave it away. */
  readonly message: number;
  readonly values: Float64Array;
  /** How far a coordinate can be off. */
  readonly error: number;
}

/** Messages between which the number of rows stayed the same. */
interface Period {
  rows: number;
  readonly states: Snapshot[];
}

/** So many different snapshots of a period are compared, each with each. */
const MOST_STATES = 120;
/** Shares tell the number of rows up to a factor. Larger ones than this are not considered. */
const LARGEST_FACTOR = 64;

/** Every single row that the differences of snapshots give. `least`: a device of fewer rows sends nothing. */
export function rowsIn(
  messages: readonly Message[],
  snapshots: readonly Snapshot[],
  rules: Rules,
  least: number,
): RowClaim[] {
  const periods = periodsOf(snapshots, least);
  settleFactors(periods);
  const claims = periods.slice(1).flatMap((period, n) => changedRow(periods[n], period) ?? []);
  for (const { rows, states } of periods) {
    const known = states.map((state) => scaled(state, rows / state.rows));
    claims.push(...movedRows(distinct(followed(messages, known, rules))));
  }
  return claims;
}

/** Snapshots of one number of rows give divisors of it, so their common multiple stays small. */
function periodsOf(snapshots: readonly Snapshot[], least: number): Period[] {
  const periods: Period[] = [];
  for (const snapshot of snapshots) {
    const last = periods.at(-1);
    const common = last && commonMultiple(last.rows, snapshot.rows);
    if (last !== undefined && common !== undefined && common <= 8 * Math.max(last.rows, snapshot.rows)) {
      last.rows = common;
      last.states.push(snapshot);
    } else {
      const factor = Math.ceil(least / snapshot.rows);
      periods.push({ rows: snapshot.rows * factor, states: [snapshot] });
    }
  }
  return periods;
}

function commonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
}

/** Where a row came or went, the numbers before and after are neighbours; that fixes a factor that shares leave open. */
function settleFactors(/* IN OUT */ periods: readonly Period[]): void {
  for (let n = 1; n < periods.length; n++) {
    const [before, after] = [periods[n - 1], periods[n]];
    const found = factorsOf(before.rows, after.rows);
    if (found === undefined) continue;
    before.rows *= found[0];
    after.rows *= found[1];
  }
}

function factorsOf(before: number, after: number): [number, number] | undefined {
  for (let factor = 1; factor <= LARGEST_FACTOR; factor++) {
    for (const change of [1, -1]) {
      const rows = factor * before + change;
      if (rows % after === 0 && rows / after <= LARGEST_FACTOR) return [factor, rows / after];
    }
  }
  return undefined;
}

function scaled(snapshot: Snapshot, factor: number): Snapshot {
  const { message, rows, counts, sums, error } = snapshot;
  return {
    message,
    rows: rows * factor,
    counts: counts.map((count) => count * factor),
    sums: sums.map((sum) => sum.map((x) => x * factor)),
    error: error * factor,
  };
}

/** The sum of all rows changes by the row that came or went, whatever cluster it is in. */
function changedRow(before: Period, after: Period): RowClaim | undefined {
  if (Math.abs(after.rows - before.rows) !== 1) return undefined;
  const first = scaledTo(before.states.at(-1), before.rows);
  const second = scaledTo(after.states[0], after.rows);
  if (first === undefined || second === undefined) return undefined;
  const sign = after.rows - before.rows;
  const [old, now] = [totalOf(first), totalOf(second)];
  const error = first.sums.length * (first.error + second.error);
  const how = sign === 1 ? "added" : "deleted";
  return { how, message: second.message, values: now.map((x, d) => sign * (x - old[d])), error };
}

function scaledTo(snapshot: Snapshot | undefined, rows: number): Snapshot | undefined {
  return snapshot && scaled(snapshot, rows / snapshot.rows);
}

function totalOf({ sums }: Snapshot): Float64Array {
  const total = new Float64Array(sums[0].length);
  for (const sum of sums) for (let d = 0; d < total.length; d++) total[d] += sum[d];
  return total;
}

/** Also what follows from snapshots about the messages between them: the same rows, or one that moved. */
function followed(messages: readonly Message[], states: readonly Snapshot[], rules: Rules): Snapshot[] {
  const found = new Map(states.map((state) => [state.message, state]));
  const walk = (from: Snapshot, step: 1 | -1) => {
    for (let t = from.message + step, state = from; t >= 0 && t < messages.length && !found.has(t); t += step) {
      const next = nextState(messages[t], t, state, rules);
      if (next === undefined) return;
      found.set(t, next);
      state = next;
    }
  };
  for (const state of states) {
    walk(state, 1);
    walk(state, -1);
  }
  return Array.from(found.values()).sort((a, b) => a.message - b.message);
}

function nextState(message: Message, t: number, state: Snapshot, rules: Rules): Snapshot | undefined {
  const { counts, rows } = state;
  const k = counts.length;
  for (const equations of readingsOf(message, rules)) {
    const withCounts = (tried: readonly number[]): Snapshot => ({
      message: t,
      rows,
      counts: tried,
      ...sumsOf(equations, tried, rules.typicalRows ?? rows, rules.grain),
    });
    const same = withCounts(counts);
    const moved = state.sums.flatMap((sum, c) => (isNear(sum, same.sums[c], state.error + same.error) ? [] : [c]));
    if (moved.length === 0) return same;
    if (moved.length !== 2 || k < 2) continue;
    for (const [from, to] of [moved, [moved[1], moved[0]]]) {
      if (counts[from] < 2) continue;
      const tried = withCounts(counts.map((count, c) => count + (c === to ? 1 : c === from ? -1 : 0)));
      if (movedRow(state, tried) !== undefined) return tried;
    }
  }
  return undefined;
}

function isNear(a: Float64Array, b: Float64Array, within: number): boolean {
  return a.every((x, d) => Math.abs(x - b[d]) <= 4 * within);
}

function distinct(states: readonly Snapshot[]): Snapshot[] {
  const kept: Snapshot[] = [];
  for (const state of states) {
    if (kept.length === MOST_STATES) break;
    const isKnown = kept.some((known) =>
      state.sums.every((sum, c) => isNear(sum, known.sums[c], state.error + known.error)),
    );
    if (!isKnown) kept.push(state);
  }
  return kept;
}

function movedRows(states: readonly Snapshot[]): RowClaim[] {
  return states.flatMap((after, n) => states.slice(0, n).flatMap((before) => movedRow(before, after) ?? []));
}

/** One cluster has a row more, another one a row less, and both say which. */
function movedRow(before: Snapshot, after: Snapshot): RowClaim | undefined {
  const changes = after.counts.map((count, c) => count - before.counts[c]);
  const to = changes.indexOf(1);
  const from = changes.indexOf(-1);
  if (to < 0 || from < 0 || changes.filter((change) => change !== 0).length !== 2) return undefined;
  const error = before.error + after.error;
  const others = changes.flatMap((change, c) => (change === 0 ? [c] : []));
  if (!others.every((c) => isNear(before.sums[c], after.sums[c], error))) return undefined;
  const gained = after.sums[to].map((x, d) => x - before.sums[to][d]);
  const lost = before.sums[from].map((x, d) => x - after.sums[from][d]);
  return isNear(gained, lost, 2 * error) ? { how: "moved", message: after.message, values: gained, error } : undefined;
}
