// Forged frames of shared clusters: what a member sends that wants another result than the sums of all have, or none. It has
// its own key, knows everything that it hears, and can invent devices; it cannot sign for others.

import type { Contract, Study } from "@fedkm/device";
import {
  type Base,
  type BoardMessage,
  decodeShared,
  encodeBoardMessage,
  encodeMembers,
  firstBase,
  type Generation,
  generationOf,
  hashedBase,
  idOf,
  maskedEntry,
  memberStatement,
  membershipOf,
  orderOf,
  ownEntry,
  proofMessage,
  type Secrets,
  signedOpening,
  stages,
  sumsShape,
  toInt64s,
} from "@fedkm/device/shared";

/** All kinds of forged results. */
export const forgeryKinds = [
  "result",
  "claim",
  "start",
  "invented signers",
  "entry of another",
  "two entries",
  "other seeds",
  "sums of a tree",
  "opening of another",
  "statement of another",
  "openings",
  "restarts",
  "drops",
  "rare drops",
  "epochs",
] as const;
/** Kinds of forged results. */
export type ForgeryKind = (typeof forgeryKinds)[number];

interface Forger {
  readonly study: Study;
  readonly contract: Contract;
  readonly secrets: Secrets;
  /** In whose name it speaks. */
  readonly victim: { readonly peer: string; readonly key: Uint8Array };
  readonly invented: readonly { readonly peer: string; readonly secrets: Secrets }[];
}

/**
 * `hear` what reaches the liar; `forge` is then what it sends to a neighbour, under this stamp, and whether that neighbour is
 * told anything else than the truth by it.
 */
export function forger(kind: ForgeryKind, given: Forger) {
  const { study, contract, secrets } = given;
  const shape = sumsShape(study);
  const read = decodeShared(shape);
  const membership = membershipOf(study, contract.hash, secrets);
  const founding = membership && { founding: membership.hash };
  const rules = { shape, study: contract.hash, colluders: study.colluders ?? 1, secrets, ...founding };
  const { number: _, ...first } = firstBase(rules);
  let heard: BoardMessage | undefined;
  let times = 0;
  /** Neighbours of whom it last said that they do not count; it says the contrary to each the next time. */
  const dropped = new Set<string>();
  let isDropped = false;
  /** A base of its own choice: all clusters in one corner. */
  const ownBase = (number: number, stage: Base["stage"]): Base => {
    const { k, d, ranges } = shape;
    const numbers = Float64Array.from({ length: k * d }, (_, i) => ranges[i % d] * 0.49);
    const roster = first.roster && { roster: { ...first.roster, version: 9 } };
    const base = { ...first, number, stage, numbers, rows: 1_000, seeded: 1_000, ...roster };
    return hashedBase(base, contract.hash, secrets.digest);
  };
  const isPrivate = shape.releasing !== undefined;
  const end = isPrivate ? stages.frozen : stages.rest;
  const asked = isPrivate ? stages.release : stages.rows;
  const next = () => (heard?.order.number ?? 0) + 1 + times;
  const proofOf = (base: Base, entries: BoardMessage["entries"]) =>
    proofMessage(generationOf(rules, base, new Map()), entries);
  /** As if it were where its neighbours are. */
  const here = (changes: Partial<Omit<BoardMessage, "base">>): ReturnType<typeof proofOf> => {
    const { base: _, ...plain } = proofOf(firstBase(rules), []);
    const at = heard ?? plain;
    const { order, hash, openings, integers } = at;
    return { ...plain, kind: "board" as const, base: undefined, order, hash, openings, integers, ...changes };
  };
  const entryBy = (signer: Secrets, integers: number, generation: Pick<Generation, "hash">) => {
    const partners = [{ peer: given.victim.peer, id: idOf(given.victim.key), epoch: 1 }];
    return maskedEntry(signer, generation, {
      epoch: 1,
      partners,
      words: toInt64s(new Float64Array(integers).fill(times)),
    });
  };
  const forgeries: Record<Exclude<ForgeryKind, "statement of another">, () => ReturnType<typeof proofOf>> = {
    result: () => proofOf(ownBase(next(), end), []),
    claim: () => here({ order: orderOf(ownBase(next(), end)), hash: ownBase(next(), end).hash }),
    start: () => proofOf(ownBase(0, asked), []),
    "invented signers"() {
      const plain = ownBase(next(), asked);
      // With founders also as if others were members, of whom the receiver has not heard.
      const isElsewhere = membership !== undefined && times % 2 === 0;
      const members = isElsewhere && { members: secrets.digest(Uint8Array.of(times)) };
      const base = hashedBase({ ...plain, ...members }, contract.hash, secrets.digest);
      const now = generationOf(rules, base, new Map());
      const names = given.invented.map(({ peer, secrets: { key } }) => ({ peer, id: idOf(key), epoch: 1 }));
      const { k, d } = shape;
      const words = toInt64s(Float64Array.from({ length: k * (d + 1) }, (_, i) => (i < k ? 100 : 0)));
      const entries = given.invented.map(({ secrets: own }, i) =>
        maskedEntry(own, now, { epoch: 1, partners: names.filter((_, j) => j !== i), words }),
      );
      return proofOf(base, entries);
    },
    "entry of another"() {
      const message = here({});
      const forged = entryBy(secrets, message.integers, message);
      return {
        ...message,
        entries: [{ ...forged, body: Uint8Array.from([...given.victim.key, ...forged.body.slice(32)]) }],
      };
    },
    "two entries"() {
      const message = here({});
      return { ...message, entries: [entryBy(secrets, message.integers, message)] };
    },
    "other seeds"() {
      const message = here({});
      const entry = entryBy(secrets, message.integers, message);
      const seedMarks = new Map(Array.from(entry.links.keys(), (id) => [id, "00".repeat(16)]));
      return { ...message, entries: [ownEntry(secrets, message, { ...entry, seedMarks })] };
    },
    "sums of a tree": () => here({ isBelow: true, hasHeard: true }),
    "opening of another"() {
      const message = here({});
      const opening = signedOpening(secrets, message.order.hash, 1 + (times % 60), false);
      return { ...message, openings: [{ ...opening, key: given.victim.key, id: idOf(given.victim.key) }] };
    },
    openings: () => here({ openings: [signedOpening(secrets, here({}).order.hash, 1 + (times % 60), false)] }),
    restarts: () => here({ openings: [signedOpening(secrets, here({}).order.hash, 1 + (times % 60), true)] }),
    drops: () => here({ isDropped }),
    "rare drops": () => here({ isDropped }),
    epochs: () => here({}),
  };
  return {
    hear(frame: Uint8Array) {
      const message = read(contract, frame);
      if (message.kind === "board") heard = message;
    },
    forge(to: string, stamp: BoardMessage["stamp"]): { readonly frame: Uint8Array; readonly isFalse: boolean } {
      times++;
      if (!dropped.delete(to)) dropped.add(to);
      // By the golden ratio over all that it sends: some neighbours are dropped for long, others hardly ever.
      isDropped = kind === "rare drops" ? Math.floor(times * 1.618) % 2 === 0 : dropped.has(to);
      const isFalse = isDropped || !kind.endsWith("drops");
      if (kind === "statement of another") {
        const said = { kind: "admit" as const, key: given.invented[0].secrets.key, counter: times };
        const signer = { key: given.victim.key, sign: secrets.sign };
        const digest = secrets.digest(Uint8Array.of(times));
        const statements = [memberStatement(contract.hash, signer, said)];
        return { frame: encodeMembers(contract, { digest, isAsking: true, statements }), isFalse };
      }
      return { frame: encodeBoardMessage(contract, { ...forgeries[kind](), knows: 1, stamp }), isFalse };
    },
  };
}
