// Which rows of the data count on a guarded device: rows that come wait for others of their kind, rows that go take others
// along, and rows that outlive their class come back as guests of a later one.

import { type Matrix, randomStream, takeRows } from "@fedkm/core";
import { oneClass, waitingGroups } from "@fedkm/core/privacy";
import type { Study } from "../study/study.ts";
import { dividedByScale } from "../study/units.ts";
import { classesWith, keysOf, type PublishedHistory } from "./history.ts";

/** A deleted row counts for so long at most. */
export const DELETION_MILLISECONDS = 30 * 86_400_000;

/** After so long it goes as soon as nobody must wait for it. */
const LATE_MILLISECONDS = DELETION_MILLISECONDS / 2;

/** Rows of the data that do not count, and rows that count although they are not among the data any more. */
export interface WaitingRows {
  /** They never counted, and wait for others of their kind. */
  readonly fresh: number;
  /** They counted once, and come back with fresh ones. */
  readonly guests: number;
  /** Since when the oldest fresh one waits, in milliseconds since 1970; null: none does, or nobody knows. */
  readonly since: number | null;
  readonly deleted: number;
  /** When all of those will have gone; null: there are none. */
  readonly deletedUntil: number | null;
}

export interface RowChange {
  readonly study: Study;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The owner wants deleted rows to go at once. */
  readonly deletesNow?: boolean;
}

/** The history after the data became `rows`; the same object where nothing has changed. */
export function followRows(
  history: PublishedHistory,
  rows: Matrix,
  change: RowChange,
): { history: PublishedHistory; waiting: WaitingRows } {
  return history.at === null ? beginRows(history, rows, change.study) : new RowsAtHand(history, rows, change).follow();
}

/** While nothing was published, all rows that are there are one class, if they are enough for every cluster. */
function beginRows(history: PublishedHistory, rows: Matrix, { k, minimum }: Study) {
  const isEnough = rows.rows >= k * minimum;
  const counted = isEnough ? rows : takeRows(rows, []);
  const waiting = { fresh: rows.rows - counted.rows, guests: 0, since: null, deleted: 0, deletedUntil: null };
  const before = history.counted.rows.data;
  if (before.length === counted.data.length && before.every((x, i) => x === counted.data[i])) {
    return { history, waiting };
  }
  const begun = { ...history, counted: { rows: counted, classes: oneClass(counted.rows) } };
  return { history: { ...begun, missingSince: new Float64Array(counted.rows) }, waiting };
}

/** A row that counts from now on: one that counted, or one of the data. */
interface Member {
  /** Its number among the rows that counted so far, or -1. */
  readonly counted: number;
  /** Its number among the data, or -1: it is missing. */
  readonly row: number;
  readonly id: number;
  readonly guest: number;
}

/** A row that counted once. */
interface Former {
  readonly key: number;
  readonly id: number;
  readonly guest: number;
  isBack: number;
  /** Its number among the data, or -1. */
  readonly row: number;
}

/** The data at one reading of them, held against what counted before. */
class RowsAtHand {
  readonly #history: PublishedHistory;
  readonly #rows: Matrix;
  readonly #change: RowChange;
  readonly #countedKeys: Float64Array;
  readonly #dataKeys: Float64Array;
  #members: Member[];
  #departed: Former[];
  readonly #missing: Float64Array;
  /** Rows of the data that never counted. */
  #fresh: number[];
  #nextId: number;
  #isMoved = false;

  constructor(history: PublishedHistory, rows: Matrix, change: RowChange) {
    const { counted, departed } = history;
    this.#history = history;
    this.#rows = rows;
    this.#change = change;
    this.#dataKeys = keysOf(rows);
    this.#countedKeys = keysOf(counted.rows);
    const take = takeByKey(this.#dataKeys);
    const { ids, guests } = counted.classes;
    this.#members = Array.from(this.#countedKeys, (key, r) => {
      return { counted: r, row: take(key), id: ids[r], guest: guests?.[r] ?? 0 };
    });
    this.#missing = Float64Array.from(this.#members, ({ row }, r) =>
      row >= 0 ? 0 : history.missingSince[r] || change.now,
    );
    this.#departed = Array.from(departed.keys, (key, r) => {
      const isBack = departed.isBack[r];
      const guest = departed.classes.guests?.[r] ?? 0;
      return { key, id: departed.classes.ids[r], guest, isBack, row: isBack === 1 ? -1 : take(key) };
    });
    const known = new Uint8Array(rows.rows);
    for (const { row } of [...this.#members, ...this.#departed]) if (row >= 0) known[row] = 1;
    this.#fresh = Array.from(known.keys()).filter((r) => known[r] === 0);
    this.#nextId = Math.max(counted.classes.sizes.length, departed.classes.sizes.length);
  }

  follow(): { history: PublishedHistory; waiting: WaitingRows } {
    this.#returnWholeClasses();
    this.#deleteRows();
    const wait = this.#waitingKeys();
    const isRound = this.#holdRound(wait);
    const history = this.#historyNow(wait, isRound);
    return { history, waiting: this.#waitingRows(history) };
  }

  /** A class of which all rows are back is as it was: a file that was cut off for a while tells nothing new. */
  #returnWholeClasses(): void {
    const isAway = new Set(this.#departed.filter(({ row }) => row < 0).map(({ id }) => id));
    const back = this.#departed.filter(({ id }) => !isAway.has(id));
    if (back.length === 0) return;
    const numbers = new Map<number, number>();
    for (const { id, row, guest } of back) {
      if (!numbers.has(id)) numbers.set(id, this.#nextId++);
      this.#members.push({ counted: -1, row, id: numbers.get(id) ?? 0, guest });
    }
    this.#departed = this.#departed.filter(({ id }) => isAway.has(id));
    this.#isMoved = true;
  }

  #deleteRows(): void {
    for (const members of this.#classes()) {
      if (this.#isDue(members)) this.#leave(this.#leavingPart(members));
    }
  }

  /** The members of each class. */
  #classes(): Iterable<Member[]> {
    const classes = new Map<number, Member[]>();
    for (const member of this.#members) {
      const own = classes.get(member.id);
      if (own === undefined) classes.set(member.id, [member]);
      else own.push(member);
    }
    return classes.values();
  }

  /** These members of one class do not count any more. */
  #leave(part: readonly Member[], isBack: (row: number) => boolean = () => false): void {
    const id = this.#nextId++;
    for (const { counted, row, guest } of part) {
      const key = counted >= 0 ? this.#countedKeys[counted] : this.#dataKeys[row];
      const has = isBack(row);
      this.#departed.push({ key, id, guest, isBack: has ? 1 : 0, row: has ? -1 : row });
    }
    const leaving = new Set(part);
    this.#members = this.#members.filter((member) => !leaving.has(member));
    this.#isMoved = true;
  }

  /** Whether deleted rows of a class go without regard to others: nobody goes with them, or it is time. */
  #isDue(members: readonly Member[]): boolean {
    const { study, now, deletesNow } = this.#change;
    const deleted = members.filter(({ row }) => row < 0);
    if (deleted.length === 0) return false;
    const isEnough = (rows: readonly Member[]) => rows.filter(({ guest }) => guest === 0).length >= study.minimum;
    if (isEnough(deleted) && isEnough(members.filter(({ row }) => row >= 0))) return true;
    const isOverdue = deleted.some(({ counted }) => now - this.#missing[counted] >= DELETION_MILLISECONDS);
    return deletesNow === true || isOverdue || deleted.length === members.length;
  }

  /**
   * What leaves a class with its deleted rows: nothing else, if both they and what stays have enough own rows. Else own rows
   * that are drawn by chance, because a sum of rows that are near each other could be guessed; or all.
   */
  #leavingPart(members: readonly Member[]): readonly Member[] {
    const { minimum } = this.#change.study;
    const deleted = members.filter(({ row }) => row < 0);
    const living = members.filter(({ row, guest }) => row >= 0 && guest === 0);
    const lacking = Math.max(0, minimum - deleted.filter(({ guest }) => guest === 0).length);
    if (living.length < lacking + minimum) return members;
    const random = randomStream(this.#countedKeys[deleted[0].counted] % 2 ** 31, "deletion");
    const drawn = living.map((member) => ({ member, at: random() })).sort((a, b) => a.at - b.at);
    return [...deleted, ...drawn.slice(0, lacking).map(({ member }) => member)];
  }

  /**
   * What leaves classes of which half are deleted, or one for half of its time, if those that must go with them can count
   * again at once: else a living row would wait for new ones, and a deleted one may wait as well.
   */
  #replaceableParts(): (readonly Member[])[] {
    const parts: (readonly Member[])[] = [];
    for (const members of this.#classes()) {
      const deleted = members.filter(({ row }) => row < 0);
      const isLate = deleted.some(({ counted }) => this.#change.now - this.#missing[counted] >= LATE_MILLISECONDS);
      if (isLate || 2 * deleted.length > members.length) parts.push(this.#leavingPart(members));
    }
    return parts;
  }

  /** Since when each fresh row waits, and whether a round has seen it. */
  #waitingKeys(): FreshRow[] {
    const { keys, since, isSeen } = this.#history.waiting;
    const take = takeByKey(keys);
    return this.#fresh.map((row) => {
      const at = take(this.#dataKeys[row]);
      return { row, since: at < 0 ? this.#change.now : since[at], isSeen: at < 0 ? 0 : isSeen[at] };
    });
  }

  /**
   * Lets waiting rows enter, if enough have come since the last round. A look at every row that comes would tell the cluster
   * of the one that completes a group.
   */
  #holdRound(wait: readonly FreshRow[]): boolean {
    const { study } = this.#change;
    const { at } = this.#history;
    if (at === null || wait.filter(({ isSeen }) => isSeen === 0).length < study.minimum) return false;
    const former = new Map(this.#guests().map((guest) => [guest.row, guest]));
    const parts = this.#replaceableParts();
    const movable = new Set(parts.flat().filter(({ row }) => row >= 0));
    const rows = [...this.#fresh, ...former.keys(), ...Array.from(movable, ({ row }) => row)];
    const isFresh = Uint8Array.from(rows, (_, at) => (at < this.#fresh.length ? 1 : 0));
    const scaled = (points: Matrix) => dividedByScale(study, points);
    const others = this.#rowsOf(this.#members.filter((member) => !movable.has(member)));
    const waiting = { points: scaled(takeRows(this.#rows, rows)), isFresh };
    const groups = waitingGroups(scaled(others), waiting, at, study.minimum);
    const entered = new Set(groups.flat().map((r) => rows[r]));
    const stays = new Set<number>();
    for (const part of parts) {
      const living = part.filter(({ row }) => row >= 0);
      const back = living.filter(({ row }) => entered.has(row));
      if (2 * back.length > living.length) this.#leave(part, (row) => entered.has(row));
      else for (const { row } of living) stays.add(row);
    }
    for (const group of groups) {
      const id = this.#nextId++;
      for (const r of group) {
        const row = rows[r];
        if (stays.has(row)) continue;
        const guest = former.get(row);
        if (guest !== undefined) guest.isBack = 1;
        this.#members.push({ counted: -1, row, id, guest: isFresh[r] === 1 ? 0 : 1 });
      }
    }
    if (groups.length > 0) this.#isMoved = true;
    this.#fresh = this.#fresh.filter((row) => !entered.has(row));
    return true;
  }

  /** Rows of the data that counted once and do not now. */
  #guests(): Former[] {
    return this.#departed.filter(({ row, isBack }) => row >= 0 && isBack === 0);
  }

  #rowsOf(members: readonly Member[]): Matrix {
    const { cols } = this.#rows;
    const { data } = this.#history.counted.rows;
    const rows = new Float64Array(members.length * cols);
    members.forEach(({ counted, row }, at) => {
      const [from, r] = counted >= 0 ? [data, counted] : [this.#rows.data, row];
      rows.set(from.subarray(r * cols, (r + 1) * cols), at * cols);
    });
    return { data: rows, rows: members.length, cols };
  }

  #historyNow(wait: readonly FreshRow[], isRound: boolean): PublishedHistory {
    const { minimum: before, counted, ...history } = this.#history;
    const minimum = Math.min(before, this.#change.study.minimum);
    const still = new Set(this.#fresh);
    const waits = wait.filter(({ row }) => still.has(row));
    const waiting = {
      keys: Float64Array.from(waits, ({ row }) => this.#dataKeys[row]),
      since: Float64Array.from(waits, ({ since }) => since),
      isSeen: Uint8Array.from(waits, ({ isSeen }) => (isRound ? 1 : isSeen)),
    };
    const missing = Float64Array.from(this.#members, ({ counted: r }) => (r < 0 ? 0 : this.#missing[r]));
    if (!this.#isMoved) {
      const isSame =
        isEqual(missing, history.missingSince) &&
        isEqual(waiting.keys, history.waiting.keys) &&
        isEqual(waiting.isSeen, history.waiting.isSeen);
      return isSame ? this.#history : { ...this.#history, waiting, missingSince: missing };
    }
    const { left } = counted.classes;
    return {
      ...history,
      minimum,
      counted: {
        rows: this.#rowsOf(this.#members),
        classes: classesWith(this.#members, left && ((id) => left[id] ?? 0)),
      },
      missingSince: missing,
      departed: {
        keys: Float64Array.from(this.#departed, ({ key }) => key),
        classes: classesWith(this.#departed),
        isBack: Uint8Array.from(this.#departed, ({ isBack }) => isBack),
      },
      waiting,
    };
  }

  #waitingRows({ missingSince, waiting }: PublishedHistory): WaitingRows {
    const deleted = missingSince.filter((since) => since > 0);
    const latest = deleted.reduce((last, since) => Math.max(last, since), 0);
    return {
      fresh: waiting.keys.length,
      guests: this.#guests().length,
      since: waiting.since.length === 0 ? null : waiting.since.reduce((first, since) => Math.min(first, since)),
      deleted: deleted.length,
      deletedUntil: deleted.length === 0 ? null : latest + DELETION_MILLISECONDS,
    };
  }
}

/** A row that never counted, and since when it waits. */
interface FreshRow {
  readonly row: number;
  readonly since: number;
  /** 1: a round was held since it came. */
  readonly isSeen: number;
}

function isEqual(a: Float64Array | Uint8Array, b: Float64Array | Uint8Array): boolean {
  return a.length === b.length && a.every((x, i) => x === b[i]);
}

/** Takes the number of a row that has a key, each once; -1 where none is left. */
function takeByKey(keys: Float64Array): (key: number) => number {
  const first = new Map<number, number>();
  const next = new Int32Array(keys.length);
  for (let r = keys.length - 1; r >= 0; r--) {
    next[r] = first.get(keys[r]) ?? -1;
    first.set(keys[r], r);
  }
  return (key) => {
    const found = first.get(key) ?? -1;
    if (found >= 0) first.set(key, next[found]);
    return found;
  };
}
