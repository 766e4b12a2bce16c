// A member of a board by itself: what it makes of messages that neighbours send.

import { concatBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import type { BoardMessage } from "../../src/sharedClusters/boardFrame.ts";
import { encodeItem, signedDoubt } from "../../src/sharedClusters/books.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { compareBases, hashedBase, orderOf, stages } from "../../src/sharedClusters/generation.ts";
import { Member, type MemberOptions } from "../../src/sharedClusters/member.ts";
import { membershipOf } from "../../src/sharedClusters/membership.ts";
import { signedOpening } from "../../src/sharedClusters/openings.ts";
import { integersIn } from "../../src/sharedClusters/plan.ts";
import { areEqual, firstBase, generationOf, provenBase } from "../../src/sharedClusters/proof.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { parseStudy } from "../../src/study/study.ts";
import { toInt64s } from "../../src/wire/int64.ts";
import {
  BETWEEN_LINK_OPENINGS_MILLISECONDS,
  RESTLESS_OPENINGS,
  RESTLESS_STARTS,
  SIGNATURE_BURST,
  SIGNATURES_PER_SECOND,
  UNKNOWN_SIGNATURES_PER_FRAME,
  UNPROVEN_MILLISECONDS,
} from "../../src/wire/limits.ts";

const shape = sumsShape(
  parseStudy(
    "name: s\nk: 1\nfeatures: [{ name: x, unit: m, min: -10, max: 10 }]\nclusters: shared\nprivacy: open\nseed: [[1]]\n",
  ),
);

/** Clusters begin with a census, which asks for one number. */
const integersFor: MemberOptions["integersFor"] = ({ stage }) =>
  Float64Array.of(3, 4).subarray(stage === stages.census ? 1 : 0);

const plainOf = (now: ReturnType<typeof generationOf>): BoardMessage => ({
  ...{ kind: "board", stamp: { epoch: 1, sequence: 0 }, knows: 1, order: orderOf(now.base), hash: now.hash },
  ...{ base: undefined, openings: [], isAsking: false, isDropped: false, isIdle: false, wantsOpening: false },
  ...{ isBelow: false, hasHeard: false, have: [], integers: 1, entries: [] },
});

/** A member with two neighbours, and how often it has checked a signature. */
function watchedMember() {
  const own = simulatedSecrets("own");
  let checks = 0;
  const digested: Uint8Array[] = [];
  const digest: typeof own.digest = (bytes) => {
    digested.push(bytes);
    return own.digest(bytes);
  };
  const isSigned: typeof own.isSigned = (...of) => {
    checks++;
    return own.isSigned(...of);
  };
  const rules = { shape, study: new Uint8Array(16), secrets: { ...own, isSigned, digest }, colluders: 1 };
  const member = new Member({ ...rules, areBooksAgreed: true, epoch: 1, integersFor });
  member.setLinks(["n", "x"], 0, true);
  const now = generationOf(rules, firstBase(rules), new Map());
  for (const peer of ["n", "x"]) member.hear(peer, plainOf(now), 1);
  return { member, now, checks: () => checks, digested: () => digested };
}

/** Entries of devices that are not there, signed by somebody else. */
function rubbish(many: number, now: { readonly hash: Uint8Array }) {
  return Array.from({ length: many }, (_, n) => {
    const secrets = simulatedSecrets(`no-${n}`);
    const entry = maskedEntry(secrets, now, { epoch: 1, partners: [], words: toInt64s([1]) });
    return { ...entry, signature: new Uint8Array(64).fill(n) };
  });
}

it.each(["board", "proof"] as const)("a %s frame of false signatures costs one check and a ban", (kind) => {
  const { member, now, checks } = watchedMember();
  const base = kind === "proof" ? { ...now.base, number: 5 } : undefined;
  const message = { ...plainOf(now), kind, base, entries: rubbish(256, now) };
  member.hear("n", kind === "proof" ? { ...message, hash: new Uint8Array(32).fill(9) } : message, 2);
  expect(checks()).toBe(1);
  expect(member.faultOf("n", 3)).toBe("sent sums that are not signed by the device they name");
  for (let n = 0; n < 20; n++) member.hear("n", message, 3 + n);
  expect(checks()).toBe(1);
  expect(member.counted.map(({ peer }) => peer)).toEqual(["x"]);
});

it("a neighbour that passes on true signatures without end is heard as fast as a link may be, and no faster", () => {
  const { member, now, checks } = watchedMember();
  const entries = Array.from({ length: 3 * SIGNATURE_BURST }, (_, n) =>
    maskedEntry(simulatedSecrets(`true-${n}`), now, { epoch: 1, partners: [], words: toInt64s([1]) }),
  );
  const hear = (from: number, at: number) => {
    for (let n = from; n < from + SIGNATURE_BURST; n += UNKNOWN_SIGNATURES_PER_FRAME)
      member.hear("n", { ...plainOf(now), entries: entries.slice(n, n + UNKNOWN_SIGNATURES_PER_FRAME) }, at);
  };
  hear(0, 2);
  hear(SIGNATURE_BURST, 2);
  expect(checks()).toBe(SIGNATURE_BURST);
  expect(member.faultOf("n", 3)).toBeUndefined();
  hear(2 * SIGNATURE_BURST, 2 + 100);
  expect(checks()).toBe(SIGNATURE_BURST + SIGNATURES_PER_SECOND / 10);
});

/** A generation that nobody was in, and the board of three invented devices that leads on from it. */
function inventedProof(now: ReturnType<typeof generationOf>) {
  const own = simulatedSecrets("own");
  const rules = { shape, study: new Uint8Array(16), secrets: own, colluders: 1 };
  const base = hashedBase({ ...now.base, number: 5, rows: 7 }, rules.study, own.digest);
  const of = generationOf(rules, base, new Map());
  const names = ["no-0", "no-1", "no-2"];
  const entries = names.map((name) => {
    const partners = names.flatMap((peer) => (peer === name ? [] : [{ peer, id: idOf(own.keyOf(peer)), epoch: 1 }]));
    return maskedEntry(simulatedSecrets(name), of, { epoch: 1, partners, words: toInt64s([1]) });
  });
  const next = provenBase(rules, { base, openings: new Map(), entries });
  const proof = { ...plainOf(now), kind: "proof" as const, hash: of.hash, base, entries };
  return { proof, next: typeof next === "string" ? expect.fail(next) : next };
}

it("of devices that may be invented few signatures are checked in one frame, on a board and in a proof", () => {
  const entries = (of: { readonly hash: Uint8Array }) =>
    Array.from({ length: 256 }, (_, n) =>
      maskedEntry(simulatedSecrets(`no-${n}`), of, { epoch: 1, partners: [], words: toInt64s([1]) }),
    );
  const board = watchedMember();
  board.member.hear("n", { ...plainOf(board.now), entries: entries(board.now) }, 2);
  expect(board.checks()).toBe(UNKNOWN_SIGNATURES_PER_FRAME);
  const ahead = watchedMember();
  const { proof } = inventedProof(ahead.now);
  ahead.member.hear("n", { ...proof, entries: entries(proof) }, 2);
  expect(ahead.checks()).toBe(UNKNOWN_SIGNATURES_PER_FRAME);
});

it("what follows from a board of devices that may be invented is computed when neighbours are there, and not before", () => {
  const { member, now, digested } = watchedMember();
  const { proof, next } = inventedProof(now);
  const board = concatBytes(...[...proof.entries].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ body }) => body));
  const times = () => digested().filter((bytes) => areEqual(bytes, board)).length;
  for (let at = 2; at < 10; at++) member.hear("n", proof, at);
  expect([times(), member.generation.number]).toEqual([0, 0]);
  expect(member.faultOf("n", 10)).toBe("brings a result that no device known here has signed for");
  const bothAre = (order: ReturnType<typeof orderOf>, at: number) => {
    for (const peer of ["n", "x"]) {
      expect(member.generation.number).toBe(0);
      member.hear(peer, { ...plainOf(now), order, hash: order.hash }, at);
    }
  };
  // At another base of this number, which it does not prove.
  bothAre({ ...orderOf(next), hash: new Uint8Array(32) }, 11);
  bothAre(orderOf(next), 12);
  expect([times(), member.generation.number]).toEqual([1, 6]);
});

it("evidence against devices that may be invented is no fault of who passes it on, and takes no room", () => {
  const { member, now, checks } = watchedMember();
  const evidenceOf = (name: string) => {
    const sign = (value: number) =>
      maskedEntry(simulatedSecrets(name), now, { epoch: 1, partners: [], words: toInt64s([value]) });
    return encodeItem({ kind: "two entries", generation: now.hash, entries: [sign(1), sign(2)] });
  };
  const hear = (...names: string[]) => {
    const items = names.map(evidenceOf);
    member.hearBooks("n", { kind: "books", stamp: { epoch: 1, sequence: 0 }, have: [], items }, 2);
  };
  hear(...Array.from({ length: 300 }, (_, n) => `no-${n}`));
  expect([checks(), member.books.removed.size, member.faultOf("n", 3)]).toEqual([0, 0, undefined]);
  hear("x");
  expect([...member.books.removed.keys()]).toEqual([idOf(simulatedSecrets("x").key)]);
});

it("devices that a liar has invented open no books by doubts, although they were on the board", () => {
  const { member } = watchedMember();
  const links = { n: ["own", "x"], x: ["own", "n", "no-0", "no-1"], "no-0": ["x", "no-1"], "no-1": ["x", "no-0"] };
  for (let at = 2; member.generation.stage !== stages.rest && at < 10; at++) {
    const { generation } = member;
    const isCensus = generation.stage === stages.census;
    const entries = Object.entries(links).map(([name, others]) => {
      const own = simulatedSecrets(name);
      const partners = others.map((peer) => ({ peer, id: idOf(own.keyOf(peer)), epoch: 1 }));
      return maskedEntry(own, generation, { epoch: 1, partners, words: toInt64s(isCensus ? [1] : [1, 0]) });
    });
    member.hear("n", { ...plainOf(generation), integers: isCensus ? 1 : 2, entries }, at);
  }
  const { base, stage } = member.generation;
  expect(stage).toBe(stages.rest);
  const doubt = (name: string) => {
    const items = [encodeItem(signedDoubt(simulatedSecrets(name), base.hash))];
    member.hearBooks("n", { kind: "books", stamp: { epoch: 1, sequence: 0 }, have: [], items }, 20);
    return member.books.dispute !== undefined;
  };
  expect(["no-0", "no-1", "n", "x"].map(doubt)).toEqual([false, false, false, true]);
});

it("two boards of a device that signed twice do not part the others: all take the later base, and leave it out for good", () => {
  const { member, now } = watchedMember();
  const [n, x] = ["n", "x"].map((name) => simulatedSecrets(name));
  const ids = { own: idOf(n.keyOf("own")), n: idOf(n.key), x: idOf(x.key) };
  const entryOf = (secrets: typeof n, self: "n" | "x", value: number) => {
    const others = (["own", "n", "x"] as const).filter((name) => name !== self);
    const partners = others.map((peer) => ({ peer, id: ids[peer], epoch: 1 }));
    return maskedEntry(secrets, now, { epoch: 1, partners, words: toInt64s([value]) });
  };
  const [own] = member.messagesFor(member.counted[0], 2)[0].entries;
  const ofN = entryOf(n, "n", 1);
  const faces = [5, 6].map((value) => entryOf(x, "x", value * 2 ** 30));
  const rules = { shape, study: new Uint8Array(16), secrets: n, colluders: 1 };
  const bases = faces.map((face) =>
    provenBase(rules, { base: now.base, openings: new Map(), entries: [own, ofN, face] }),
  );
  const [first, second] = bases.map((base) => (typeof base === "string" ? expect.fail(base) : base));
  const isInOrder = compareBases(orderOf(first), orderOf(second)) < 0;
  const [early, late] = isInOrder ? faces : [...faces].reverse();
  member.hear("n", { ...plainOf(now), entries: [ofN, early] }, 3);
  expect(member.generation.number).toBe(1);
  const proof = { ...plainOf(now), kind: "proof" as const, base: now.base };
  member.hear("n", { ...proof, entries: [own, ofN, late] }, 4);
  expect(member.generation.base.hash).toEqual((isInOrder ? second : first).hash);
  expect([...member.books.removed]).toEqual([[ids.x, "signed two different sums of one time"]]);
  expect(member.faultOf("x", 5)).toMatch(/signed two different sums of one time, which is proven/);
  // What rests on its sums begins anew without them.
  expect([...member.generation.openings.values()].map(({ isRestart }) => isRestart)).toEqual([true]);
  member.hear("n", { ...proof, entries: [own, ofN, early] }, 5);
  expect(member.generation.base.hash).toEqual((isInOrder ? second : first).hash);
});

it("after the first board only devices that were on it may open, so that nobody opens with invented ones", () => {
  const { member, now } = watchedMember();
  const ids = ["own", "n", "x"].map((name) => idOf(simulatedSecrets(name).key));
  const entries = [1, 2].map((i) => {
    const partners = [0, 1, 2].flatMap((j) => (i === j ? [] : [{ peer: ["own", "n", "x"][j], id: ids[j], epoch: 1 }]));
    return maskedEntry(simulatedSecrets(["own", "n", "x"][i]), now, {
      epoch: 1,
      partners,
      words: toInt64s([2 ** 33]),
    });
  });
  member.hear("n", { ...plainOf(now), entries }, 3);
  const { generation } = member;
  expect(generation.number).toBe(1);
  const opened = (name: string) => [signedOpening(simulatedSecrets(name), generation.base.hash, 1, false)];
  member.hear("n", { ...plainOf(generation), openings: opened("stranger") }, 4);
  expect([member.generation.openings.size, member.faultOf("n", 5)]).toEqual([0, undefined]);
  member.hear("n", { ...plainOf(generation), openings: opened("x") }, 5);
  expect(member.generation.openings.size).toBe(1);
});

it("an entry that comes over its own link is checked like any other", () => {
  const { member, now } = watchedMember();
  const [entry] = rubbish(1, now);
  member.hear("n", { ...plainOf(now), entries: [{ ...entry, key: simulatedSecrets("n").key }] }, 2);
  expect(member.faultOf("n", 3)).toMatch(/not signed/);
});

it("parts of proofs of two bases are not taken for one", () => {
  const { member, now, checks } = watchedMember();
  const proofOf = (rows: number) => ({
    ...{ ...plainOf(now), kind: "proof" as const, hash: new Uint8Array(32).fill(9) },
    base: { ...now.base, number: 5, rows },
  });
  const rules = { shape, study: new Uint8Array(16), secrets: simulatedSecrets("own"), colluders: 1 };
  const signedFor = (rows: number, name: string, other: string) => {
    const secrets = simulatedSecrets(name);
    const of = generationOf(rules, hashedBase(proofOf(rows).base, rules.study, rules.secrets.digest), new Map());
    const partners = [{ peer: other, id: idOf(secrets.keyOf(other)), epoch: 1 }];
    return maskedEntry(secrets, of, { epoch: 1, partners, words: toInt64s([1]) });
  };
  member.hear("n", { ...proofOf(1), entries: [signedFor(1, "n", "x")] }, 2);
  member.hear("n", { ...proofOf(2), entries: [signedFor(2, "x", "n")] }, 3);
  expect(checks()).toBe(2);
  expect(member.generation.number).toBe(0);
  member.hear("n", { ...proofOf(2), entries: [signedFor(2, "n", "x")] }, 4);
  expect(member.generation.number).toBe(6);
});

it("an entry that shows a neighbour's start keeps the others of its message from the generation that it opens", () => {
  const [own, n, x] = ["own", "n", "x"].map((name) => simulatedSecrets(name));
  const rules = { shape, study: new Uint8Array(16), secrets: own, colluders: 1, areBooksAgreed: true };
  const member = new Member({ ...rules, epoch: 1, integersFor });
  member.setLinks(["n", "x"], 0, true);
  const now = generationOf(rules, firstBase(rules), new Map());
  const plain = plainOf(now);
  member.hear("n", plain, 1);
  member.hear("x", plain, 1);
  const partners = (peer: string) =>
    [{ peer: "own", id: idOf(own.key), epoch: 1 }].concat(
      peer === "n" ? { peer: "x", id: idOf(x.key), epoch: 2 } : { peer: "n", id: idOf(n.key), epoch: 1 },
    );
  const words = toInt64s([1]);
  const ofX = maskedEntry(x, now, { epoch: 2, partners: partners("x"), words });
  const ofN = maskedEntry(n, now, { epoch: 1, partners: partners("n"), words });
  member.hear("n", { ...plain, entries: [ofX, ofN] }, 2);
  expect(member.generation.openings.size).toBe(1);
  const [link] = member.counted;
  expect(member.messagesFor(link, 3)[0].have).not.toContain(ofN.mark);
  expect(member.books.removed.size).toBe(0);
});

it("a neighbour that signs for another pad of its link is left out and named", () => {
  const { member, now } = watchedMember();
  const x = simulatedSecrets("x");
  const partners = ["own", "n"].map((peer) => ({ peer, id: idOf(x.keyOf(peer)), epoch: 1 }));
  const padSeed: typeof x.padSeed = (peer, info) => x.padSeed(peer === "own" ? "nobody" : peer, info);
  const entry = maskedEntry({ ...x, padSeed }, now, { epoch: 1, partners, words: toInt64s([1]) });
  member.hear("n", { ...plainOf(now), entries: [entry] }, 3);
  expect(member.faultOf("x", 4)).toBe("signed for another pad than that of its link to this device");
  expect([member.faultOf("n", 4), member.counted.map(({ peer }) => peer)]).toEqual([undefined, ["n"]]);
  expect(member.disputed.size).toBe(1);
});

it("a neighbour that opens is named by its own counter, although most of its openings were never heard", () => {
  const faultAfter = (counter: number) => {
    const { member, now } = watchedMember();
    const openings = [signedOpening(simulatedSecrets("n"), now.base.hash, counter, false)];
    member.hear("x", { ...plainOf(now), openings }, 2);
    return member.faultOf("n", 3);
  };
  expect(faultAfter(RESTLESS_OPENINGS)).toBeUndefined();
  expect(faultAfter(RESTLESS_OPENINGS + 1)).toBe("makes all add up again and again");
});

it("a neighbour that comes and goes is named, then left out for a while, and makes this device open no more often than it may", () => {
  const { member, now } = watchedMember();
  let at = 2;
  const opened = () => member.generation.openings.get(idOf(simulatedSecrets("own").key))?.counter ?? 0;
  const say = (isDropped: boolean) => {
    for (const peer of ["n", "x"]) {
      const { openings, hash } = member.generation;
      const here = { ...plainOf(now), hash, openings: [...openings.values()] };
      member.hear(peer, { ...here, isDropped: isDropped && peer === "x" }, at++);
    }
  };
  for (let turn = 0; turn < RESTLESS_STARTS; turn++) say(turn % 2 === 0);
  expect(member.faultOf("x", at)).toBeUndefined();
  say(false);
  expect(member.faultOf("x", at)).toBe("makes all add up again and again");
  for (let turn = 0; turn < 20; turn++) say(turn % 2 === 0);
  expect(member.counted.map(({ peer }) => peer)).toEqual(["n"]);
  expect(member.faultOf("x", at)).toBe("comes and goes so often that it does not count for a while");
  expect(opened()).toBeGreaterThan(2);
  expect(opened()).toBeLessThanOrEqual(RESTLESS_OPENINGS);
  at += BETWEEN_LINK_OPENINGS_MILLISECONDS;
  say(false);
  expect(member.counted.map(({ peer }) => peer)).toEqual(["n", "x"]);
});

it("a neighbour that claims a later result is named until it proves it", () => {
  const { member, now } = watchedMember();
  const hash = new Uint8Array(32).fill(9);
  member.hear("n", { ...plainOf(now), order: { ...orderOf(now.base), number: 3, hash }, hash }, 2);
  expect(member.faultOf("n", 2 + UNPROVEN_MILLISECONDS)).toBeUndefined();
  expect(member.faultOf("n", 3 + UNPROVEN_MILLISECONDS)).toBe("claims a later result and does not prove it");
});

/** The same of a study whose members are known: itself, two neighbours and one that is away. */
function foundedMember(more = "privacy: open\nseed: [[1]]\n") {
  const secrets = simulatedSecrets("own");
  const study = parseStudy(
    `name: s\nk: 1\nfeatures: [{ name: x, unit: m, min: -10, max: 10 }]\nclusters: shared\nfounders: [own, n, x, z]\n${more}`,
  );
  const hash = new Uint8Array(16);
  const membership = membershipOf(study, hash, secrets) ?? expect.fail("it has founders");
  const rules = { shape: sumsShape(study), study: hash, secrets, colluders: 1, founding: membership.hash, membership };
  const member = new Member({ ...rules, areBooksAgreed: true, epoch: 1, integersFor: () => Float64Array.of(3) });
  member.setLinks(["n", "x"], 0, true);
  const now = generationOf(rules, firstBase(rules), new Map());
  for (const peer of ["n", "x"]) member.hear(peer, { ...plainOf(now), integers: 0 }, 1);
  const partnersOf = (self: string, others: readonly string[]) =>
    others.flatMap((peer) => (peer === self ? [] : [{ peer, id: idOf(secrets.keyOf(peer)), epoch: 1 }]));
  return { member, now, rules, partnersOf };
}

it("with founders nobody else opens", () => {
  const { member, now } = foundedMember();
  const opened = (name: string) => {
    const openings = [signedOpening(simulatedSecrets(name), now.base.hash, 1, false)];
    member.hear("n", { ...plainOf(now), openings }, 2);
    return member.generation.openings.size;
  };
  expect(["stranger", "z"].map(opened)).toEqual([0, 1]);
  expect(member.faultOf("n", 3)).toBeUndefined();
});

it("with founders whoever brings sums or a proof of others is left out and named", () => {
  const brought = (kind: "board" | "proof") => {
    const { member, now, rules, partnersOf } = foundedMember();
    const names = ["y", "stranger"];
    const base = hashedBase({ ...now.base, number: 5, rows: 7 }, rules.study, rules.secrets.digest);
    const of = kind === "proof" ? generationOf(rules, base, new Map()) : now;
    const entries = names.map((name) =>
      maskedEntry(simulatedSecrets(name), of, { epoch: 1, partners: partnersOf(name, names), words: toInt64s([1]) }),
    );
    const { hash, members } = of;
    member.hear("n", { ...plainOf(now), kind, hash, members, entries, ...(kind === "proof" && { base }) }, 2);
    return [member.faultOf("n", 3), member.generation.number];
  };
  expect(brought("board")).toEqual(["sent sums of a device that has no part in them", 0]);
  expect(brought("proof")).toEqual(["sent a proof that proves nothing", 0]);
});

it("sums of private rows are those of devices that were counted, not of a member that came later", () => {
  const { member, now, rules, partnersOf } = foundedMember("privacy: private\ntypicalRows: 100\ndevices: 3\n");
  const entries = ["n", "x"].map((name) =>
    maskedEntry(simulatedSecrets(name), now, {
      ...{ epoch: 1, partners: partnersOf(name, ["own", "n", "x"]), words: toInt64s([]) },
    }),
  );
  member.hear("n", { ...plainOf(now), integers: 0, entries }, 2);
  const { generation } = member;
  expect(generation.stage).toBe(stages.release);
  const integers = integersIn(rules.shape, generation);
  const sealedBy = (name: string, others: readonly string[]) =>
    maskedEntry(simulatedSecrets(name), generation, {
      ...{ epoch: 1, partners: partnersOf(name, others), words: toInt64s(new Array(integers).fill(0)) },
      seal: new Uint8Array(32 * (1 + others.length)),
    });
  member.hear("n", { ...plainOf(generation), integers, entries: [sealedBy("z", ["n", "z"])] }, 3);
  expect(member.faultOf("n", 4)).toBe("sent sums of a device that has no part in them");
  const { base, openings, members } = generation;
  const provenBy = (...names: readonly string[]) =>
    provenBase(rules, { base, openings, members, entries: names.map((name) => sealedBy(name, names)) });
  expect(provenBy("own", "n", "x")).toMatchObject({ stage: stages.keys });
  expect(provenBy("own", "n", "x", "z")).toBe("false");
});
