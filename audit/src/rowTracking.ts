// From snapshots of clusters to single rows: what differs between two snapshots by one row is that row.

import { type ClusterSnapshot, inversionReadings, inversionSums, type PublicRules } from "./inversion.ts";
import type { ObservedMessage } from "./observation.ts";

/** A row that an attacker believes to have found, in the scaled units of the study. */
export interface RowClaim {
  readonly how: "added" | "deleted" | "moved";
  /** The number of the message that gave it away. */
  readonly message: number;
  readonly values: Float64Array;
  /** How far a coordinate can be off. */
  readonly error: number;
}

/** Messages between which the rows stayed the same. */
interface RowsPeriod {
  /** At first what all numbers of rows in it divide, then the number of rows. */
  rows: number;
  isSettled: boolean;
  readonly states: ClusterSnapshot[];
}

/** So many different snapshots of a period are compared, each with each. */
const MOST_STATES = 120;
/** Shares tell the number of rows up to a factor. Larger ones than this are not considered. */
const LARGEST_FACTOR = 64;

/** Every single row that the differences of snapshots give. `least`: a device of fewer rows sends nothing. */
export function rowClaims(
  messages: readonly ObservedMessage[],
  snapshots: readonly ClusterSnapshot[],
  rules: PublicRules,
  least: number,
): RowClaim[] {
  const periods = periodsOf(snapshots);
  settleRows(periods, least);
  const claims = periods.slice(1).flatMap((period, n) => changedRow(periods[n], period) ?? []);
  for (const { rows, states } of periods) {
    const known = states.map((state) => scaled(state, rows / state.rows));
    claims.push(...movedRows(distinct(stateChain(messages, known, rules))));
  }
  return claims;
}

/** The same rows have the same mean, however they are clustered. Their number is a multiple of what each snapshot says. */
function periodsOf(snapshots: readonly ClusterSnapshot[]): RowsPeriod[] {
  const periods: RowsPeriod[] = [];
  for (const snapshot of snapshots) {
    const last = periods.at(-1);
    const before = last?.states.at(-1);
    if (last !== undefined && before !== undefined && isSameMean(before, snapshot)) {
      last.rows = commonMultiple(last.rows, snapshot.rows);
      last.states.push(snapshot);
    } else periods.push({ rows: snapshot.rows, isSettled: false, states: [snapshot] });
  }
  return periods;
}

function isSameMean(a: ClusterSnapshot, b: ClusterSnapshot): boolean {
  const [first, second] = [scaled(a, 1 / a.rows), scaled(b, 1 / b.rows)];
  return isNear(totalOf(first), totalOf(second), first.sums.length * (first.error + second.error));
}

function commonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
}

/** Where a row came or went, the numbers before and after are neighbours; that fixes the factor that shares leave open. */
function settleRows(/* IN OUT */ periods: readonly RowsPeriod[], least: number): void {
  for (let n = 1; n < periods.length; n++) {
    const [before, after] = [periods[n - 1], periods[n]];
    const found = neighbouring(before, after, least);
    if (found === undefined) continue;
    [before.rows, after.rows] = found;
    before.isSettled = true;
    after.isSettled = true;
  }
  for (const period of periods) {
    if (!period.isSettled) period.rows *= Math.ceil(least / period.rows);
  }
}

/** The smallest numbers of rows that differ by one. */
function neighbouring(before: RowsPeriod, after: RowsPeriod, least: number): [number, number] | undefined {
  for (let factor = 1; factor <= (before.isSettled ? 1 : LARGEST_FACTOR); factor++) {
    const rows = factor * before.rows;
    for (const other of [rows + 1, rows - 1]) {
      if (Math.min(rows, other) >= least && other % after.rows === 0) return [rows, other];
    }
  }
  return undefined;
}

function scaled(snapshot: ClusterSnapshot, factor: number): ClusterSnapshot {
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
function changedRow(before: RowsPeriod, after: RowsPeriod): RowClaim | undefined {
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

function scaledTo(snapshot: ClusterSnapshot | undefined, rows: number): ClusterSnapshot | undefined {
  return snapshot && scaled(snapshot, rows / snapshot.rows);
}

function totalOf({ sums }: ClusterSnapshot): Float64Array {
  const total = new Float64Array(sums[0].length);
  for (const sum of sums) for (let d = 0; d < total.length; d++) total[d] += sum[d];
  return total;
}

/** Also what follows from snapshots about the messages between them: the same rows, or one that moved. */
function stateChain(
  messages: readonly ObservedMessage[],
  states: readonly ClusterSnapshot[],
  rules: PublicRules,
): ClusterSnapshot[] {
  const found = new Map(states.map((state) => [state.message, state]));
  const walk = (from: ClusterSnapshot, step: 1 | -1) => {
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

function nextState(
  message: ObservedMessage,
  t: number,
  state: ClusterSnapshot,
  rules: PublicRules,
): ClusterSnapshot | undefined {
  const { counts, rows } = state;
  const k = counts.length;
  for (const equations of inversionReadings(message, rules)) {
    const withCounts = (tried: readonly number[]): ClusterSnapshot => ({
      message: t,
      rows,
      counts: tried,
      ...inversionSums(equations, tried, rules.typicalRows ?? rows, rules.grain),
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

function distinct(states: readonly ClusterSnapshot[]): ClusterSnapshot[] {
  const kept: ClusterSnapshot[] = [];
  for (const state of states) {
    if (kept.length === MOST_STATES) break;
    const isKnown = kept.some((known) =>
      state.sums.every((sum, c) => isNear(sum, known.sums[c], state.error + known.error)),
    );
    if (!isKnown) kept.push(state);
  }
  return kept;
}

function movedRows(states: readonly ClusterSnapshot[]): RowClaim[] {
  return states.flatMap((after, n) => states.slice(0, n).flatMap((before) => movedRow(before, after) ?? []));
}

/** One cluster has a row more, another one a row less, and both say which. */
function movedRow(before: ClusterSnapshot, after: ClusterSnapshot): RowClaim | undefined {
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
