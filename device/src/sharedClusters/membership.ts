// Members of a shared study: the founders, whom the study names, and whomever enough members have admitted since, less those
// that were removed. What members say of others is signed and only ever grows, so that all devices that have heard the same
// have the same members, in whichever order they heard it. Pure; see docs/protocol.md#members.

import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES, KEY_BYTES, type Secrets, SIGNATURE_BYTES } from "../keys/secrets.ts";
import { FOUNDERS_RULE, needsFounders, type Study } from "../study/study.ts";
import { getInteger, setInteger } from "../wire/frames.ts";
import { MOST_MEMBER_STATEMENTS } from "../wire/limits.ts";

/** "succeed": the signer goes on under `key`, which has signed too. */
const kinds = ["admit", "remove", "succeed"] as const;

export interface MemberStatement {
  readonly kind: (typeof kinds)[number];
  /** Whom it is about, in hex like the signer. */
  readonly key: string;
  readonly signer: string;
  /** Founders are in at 0. Each later admission of a key has the next number, and a removal that of what it ends. */
  readonly counter: number;
  /** Of an admission: how many rows the key may hold; 0: any number. */
  readonly mostRows: number;
  /** The whole statement as it travels. */
  readonly bytes: Uint8Array;
}

/** Key 32, counter 4, kind 1, most rows 8, signer 32: what is signed. Then the signature, of a successor both. */
const BODY_BYTES = 2 * KEY_BYTES + 13;
const SIGNER_AT = KEY_BYTES + 13;
export const LARGEST_MEMBER_STATEMENT = BODY_BYTES + 2 * SIGNATURE_BYTES;

type Signer = Pick<Secrets, "key" | "sign">;

/** What is signed has the study in it: nobody is admitted to another one. */
const signedBytes = (study: Uint8Array, body: Uint8Array) => concatBytes(utf8ToBytes("fedkm member\n"), study, body);

/** `next`: the new key of a signer that goes on under it, and signs too. */
export function memberStatement(
  study: Uint8Array,
  signer: Signer,
  said: { kind: "admit" | "remove"; key: Uint8Array; counter: number; mostRows?: number } | { next: Signer },
): MemberStatement {
  const {
    kind,
    key,
    counter,
    mostRows = 0,
  } = "next" in said ? { kind: "succeed" as const, key: said.next.key, counter: 0 } : said;
  const body = new Uint8Array(BODY_BYTES);
  const view = new DataView(body.buffer);
  body.set(key);
  view.setUint32(KEY_BYTES, counter, true);
  view.setUint8(KEY_BYTES + 4, kinds.indexOf(kind));
  setInteger(view, KEY_BYTES + 5, mostRows);
  body.set(signer.key, SIGNER_AT);
  const signers = "next" in said ? [signer, said.next] : [signer];
  const bytes = concatBytes(body, ...signers.map(({ sign }) => sign(signedBytes(study, body))));
  return { kind, key: bytesToHex(key), signer: bytesToHex(signer.key), counter, mostRows, bytes };
}

/** Statements that follow each other; undefined: these bytes are none. Signatures are not judged here. */
export function decodeMemberStatements(bytes: Uint8Array, at = 0): MemberStatement[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: MemberStatement[] = [];
  for (let from = at; from < bytes.length; ) {
    if (from + BODY_BYTES > bytes.length) return undefined;
    const kind = kinds[view.getUint8(from + KEY_BYTES + 4)];
    const end = from + BODY_BYTES + (kind === "succeed" ? 2 : 1) * SIGNATURE_BYTES;
    const mostRows = getInteger(view, from + KEY_BYTES + 5);
    if (kind === undefined || end > bytes.length || !Number.isSafeInteger(mostRows)) return undefined;
    const hex = (start: number) => bytesToHex(bytes.subarray(from + start, from + start + KEY_BYTES));
    const counter = view.getUint32(from + KEY_BYTES, true);
    found.push({
      kind,
      key: hex(0),
      signer: hex(SIGNER_AT),
      counter,
      mostRows,
      bytes: new Uint8Array(bytes.subarray(from, end)),
    });
    from = end;
  }
  return found;
}

function isMemberStatementSigned(
  secrets: Pick<Secrets, "isSigned">,
  study: Uint8Array,
  { kind, key, signer, bytes }: MemberStatement,
): boolean {
  const signed = signedBytes(study, bytes.subarray(0, BODY_BYTES));
  return (kind === "succeed" ? [signer, key] : [signer]).every((one, n) => {
    const from = BODY_BYTES + n * SIGNATURE_BYTES;
    return secrets.isSigned(hexToBytes(one), signed, bytes.subarray(from, from + SIGNATURE_BYTES));
  });
}

/** What the study says of members. */
export interface MemberRules {
  readonly founders: readonly Uint8Array[];
  readonly vouchers: number;
  /** 0: any number. */
  readonly mostRows: number;
  /** The hash of the study. */
  readonly study: Uint8Array;
  readonly secrets: Pick<Secrets, "digest" | "isSigned">;
}

const nameOf = ({ bytes }: MemberStatement) => bytesToHex(bytes.subarray(0, BODY_BYTES));

/** What statements that say the same of a key have in common. */
const topicOf = (key: string, kind: MemberStatement["kind"], counter: number) => `${key} ${kind} ${counter}`;

/** Appends to the list under a name. */
function listUnder<Value>(/* IN OUT */ lists: Map<string, Value[]>, name: string, value: Value): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}

export class Membership {
  readonly #rules: MemberRules;
  readonly #statements = new Map<string, MemberStatement>();
  /** The same by what they say and of whom, by whom they are about, and how many each owner has made: owners may say much. */
  readonly #onTopic = new Map<string, MemberStatement[]>();
  readonly #about = new Map<string, MemberStatement[]>();
  #said = new Map<string, number>();
  /** Everybody who ever was a member, with the first key of its owner: whoever changes its key has one voice all the same. */
  #owners = new Map<string, string>();
  /** By the ids of their keys: the most rows of each member. */
  #members = new Map<string, number>();
  /** By ids as well. */
  #former = new Set<string>();
  /** Keys by their order, each with its most rows in 8 bytes. */
  list: Uint8Array = new Uint8Array(0);
  /** Of this list: entries sign for it. */
  hash: Uint8Array = new Uint8Array(0);
  /** Of all statements: who has the same has heard the same. */
  digest: Uint8Array = new Uint8Array(0);

  constructor(rules: MemberRules) {
    this.#rules = rules;
    this.#judge();
  }

  get statements(): readonly MemberStatement[] {
    return [...this.#statements.values()];
  }

  get size(): number {
    return this.#members.size;
  }

  get ids(): readonly string[] {
    return [...this.#members.keys()];
  }

  isMember(id: string): boolean {
    return this.#members.has(id);
  }

  /** Whether a key is or was a member. Statements of such keys count for ever: who is removed stays one of the colluders. */
  wasMember(id: string): boolean {
    return this.#former.has(id);
  }

  /** 0: any number, or it is no member. */
  mostRowsOf(id: string): number {
    return this.#members.get(id) ?? 0;
  }

  /** Whether it says something that is not known here, and its signer has a voice. Its signature is not judged. */
  isNews(statement: MemberStatement): boolean {
    const owner = this.#owners.get(statement.signer);
    if (owner === undefined || this.#statements.has(nameOf(statement))) return false;
    return (this.#said.get(owner) ?? 0) < MOST_MEMBER_STATEMENTS;
  }

  /**
   * Takes statements that are news and signed, and returns them. `mayCheck`: whether one more signature of a neighbour may
   * be checked; one that does not hold is its fault. Without it they are the device's own, some of another study.
   */
  add(given: readonly MemberStatement[], mayCheck?: () => boolean): MemberStatement[] | "false" {
    const { secrets, study } = this.#rules;
    const taken: MemberStatement[] = [];
    // Whoever one statement makes a member may have signed another one.
    for (let before = -1; before < taken.length; ) {
      before = taken.length;
      for (const statement of given.filter((one) => this.isNews(one))) {
        if (mayCheck?.() === false) break;
        const isSigned = isMemberStatementSigned(secrets, study, statement);
        if (!isSigned && mayCheck === undefined) continue;
        if (!isSigned) {
          this.#judge();
          return "false";
        }
        this.#keep(statement);
        taken.push(statement);
      }
      if (taken.length > before) this.#judge();
    }
    return taken;
  }

  #keep(statement: MemberStatement): void {
    const { key, kind, counter, signer } = statement;
    this.#statements.set(nameOf(statement), statement);
    listUnder(this.#onTopic, topicOf(key, kind, counter), statement);
    listUnder(this.#about, key, statement);
    this.#count(signer);
  }

  #count(signer: string): void {
    const owner = this.#owners.get(signer);
    if (owner !== undefined) this.#said.set(owner, (this.#said.get(owner) ?? 0) + 1);
  }

  /** The number that the next admission of a key must have, and the one that a removal must name. */
  countersOf(key: Uint8Array): { readonly admit: number; readonly remove: number } {
    const latest = this.#latestOf(bytesToHex(key));
    return { admit: (latest ?? 0) + 1, remove: latest ?? 0 };
  }

  /** How many have said that a key is to come in, or go, beside those who need not. */
  voicesFor(key: Uint8Array, kind: "admit" | "remove"): number {
    return this.#voices(bytesToHex(key), kind, this.countersOf(key)[kind]).length;
  }

  /** Statements of this kind by members, one of each owner: how many rows they grant. */
  #voices(key: string, kind: MemberStatement["kind"], counter: number): number[] {
    const granted = new Map<string, number>();
    for (const one of this.#onTopic.get(topicOf(key, kind, counter)) ?? []) {
      const owner = this.#owners.get(one.signer);
      if (owner === undefined) continue;
      granted.set(owner, Math.max(granted.get(owner) ?? 0, one.mostRows || Number.POSITIVE_INFINITY));
    }
    return [...granted.values()];
  }

  /** The latest admission of a key in its own right; 0: the study's. */
  #latestOf(key: string): number | undefined {
    const { founders, vouchers } = this.#rules;
    const admissions = (this.#about.get(key) ?? []).filter(({ kind }) => kind === "admit");
    const counters = [...new Set(admissions.map(({ counter }) => counter))].sort((a, b) => b - a);
    const first = founders.some((founder) => bytesToHex(founder) === key) ? 0 : undefined;
    return counters.find((counter) => this.#voices(key, "admit", counter).length >= vouchers) ?? first;
  }

  #isRemoved(key: string, counter: number): boolean {
    const isOwn = ({ kind, signer, counter: at }: MemberStatement) =>
      kind === "remove" && signer === key && at >= counter;
    const isAway = (this.#about.get(key) ?? []).some(isOwn);
    return isAway || this.#voices(key, "remove", counter).length >= this.#rules.vouchers;
  }

  /** Goes through all that was said until nobody else comes in. Each statement costs little, so that nobody stalls others. */
  #judge(): void {
    const { founders, vouchers, mostRows, secrets } = this.#rules;
    // In one order, whatever was heard first.
    const names = [...this.#statements.keys()].sort();
    const [nextOf, beforeOf] = [new Map<string, string[]>(), new Map<string, string[]>()];
    for (const { kind, key, signer } of names.flatMap((name) => this.#statements.get(name) ?? [])) {
      if (kind !== "succeed" || nextOf.get(signer)?.includes(key)) continue;
      listUnder(nextOf, signer, key);
      listUnder(beforeOf, key, signer);
    }
    this.#owners = new Map();
    const come = (first: string) => {
      const queue = [[first, first]];
      for (const [key, owner] of queue) {
        if (this.#owners.has(key)) continue;
        this.#owners.set(key, owner);
        for (const next of nextOf.get(key) ?? []) queue.push([next, owner]);
      }
    };
    for (const founder of founders) come(bytesToHex(founder));
    const topics = [...this.#onTopic.keys()].sort().flatMap((topic) => this.#onTopic.get(topic)?.[0] ?? []);
    const admissions = topics.filter(({ kind }) => kind === "admit");
    for (let before = 0; before < this.#owners.size; ) {
      before = this.#owners.size;
      for (const { key, counter } of admissions)
        if (!this.#owners.has(key) && this.#voices(key, "admit", counter).length >= vouchers) come(key);
    }
    this.#said = new Map();
    for (const { signer } of this.#statements.values()) this.#count(signer);
    const next = (key: string) => nextOf.get(key) ?? [];
    const judged = new Map<string, number | undefined>();
    /** How many rows a key may hold as a member or as the former key of one; undefined: it is none. */
    const standing = (key: string): number | undefined => {
      // Keys that follow each other in a circle lead nowhere.
      if (!judged.has(key)) {
        judged.set(key, undefined);
        judged.set(key, standingOf(key));
      }
      return judged.get(key);
    };
    const standingOf = (key: string): number | undefined => {
      const counter = this.#latestOf(key);
      if (this.#isRemoved(key, counter ?? 0)) return undefined;
      if (counter === 0) return mostRows;
      if (counter !== undefined) {
        const granted = this.#voices(key, "admit", counter).sort((a, b) => b - a)[vouchers - 1];
        return Number.isFinite(granted) ? granted : 0;
      }
      // Of an owner that names two new keys one may be a thief.
      const before = (beforeOf.get(key) ?? []).filter((signer) => next(signer).length === 1);
      return before.map(standing).find((found) => found !== undefined);
    };
    const keys = [...this.#owners.keys()].sort();
    const members = keys.flatMap((key) => {
      const most = next(key).length > 0 ? undefined : standing(key);
      return most === undefined ? [] : [{ key, most }];
    });
    const idOfHex = (key: string) => key.slice(0, 2 * ID_BYTES);
    this.#members = new Map(members.map(({ key, most }) => [idOfHex(key), most]));
    this.#former = new Set(keys.map(idOfHex));
    const rowsOf = (most: number) => {
      const bytes = new Uint8Array(8);
      setInteger(new DataView(bytes.buffer), 0, most);
      return bytes;
    };
    this.list = concatBytes(...members.flatMap(({ key, most }) => [hexToBytes(key), rowsOf(most)]));
    this.hash = membersHash(secrets, this.list);
    this.digest = secrets.digest(utf8ToBytes(names.join("\n")));
  }
}

/** Key 32, most rows 8. */
export const LISTED_MEMBER_BYTES = KEY_BYTES + 8;

export function membersHash({ digest }: Pick<Secrets, "digest">, list: Uint8Array): Uint8Array {
  return digest(concatBytes(utf8ToBytes("fedkm members\n"), list));
}

/** How many rows a list of members allows one; 0: any number, or it is not on the list. */
export function mostRowsIn(list: Uint8Array, id: string): number {
  const view = new DataView(list.buffer, list.byteOffset, list.byteLength);
  for (let at = 0; at < list.length; at += LISTED_MEMBER_BYTES)
    if (bytesToHex(list.subarray(at, at + ID_BYTES)) === id) return getInteger(view, at + KEY_BYTES);
  return 0;
}

/** Who the members are before anybody has said anything; undefined: whoever is linked takes part. */
export function membershipOf(
  study: Study,
  hash: Uint8Array,
  secrets: Pick<Secrets, "keyOf" | "digest" | "isSigned">,
): Membership | undefined {
  if (needsFounders(study)) throw new RangeError(`founders ${FOUNDERS_RULE}, got none`);
  const { founders, vouchers = 0, mostRows = 0 } = study;
  if (founders === undefined) return undefined;
  return new Membership({ founders: founders.map(secrets.keyOf), vouchers, mostRows, study: hash, secrets });
}
