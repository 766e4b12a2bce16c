// Who is a member: founders, those whom enough members admit, less those who are removed; the same everywhere.

import { complete, type Matrix, paperData } from "@fedkm/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { decodeMembers, encodeMembers, MemberExchange } from "../../src/sharedClusters/memberExchange.ts";
import {
  decodeMemberStatements,
  type MemberStatement,
  Membership,
  memberStatement,
} from "../../src/sharedClusters/membership.ts";
import { type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";

const hash = new Uint8Array(16);
const secretsOf = (name: string) => simulatedSecrets(name);
const keyOf = (name: string) => secretsOf(name).key;
const founders = ["a", "b", "c", "d"];

function membership(vouchers = 2, mostRows = 100) {
  return new Membership({ founders: founders.map(keyOf), vouchers, mostRows, study: hash, secrets: secretsOf("a") });
}

const say = (
  signer: string,
  kind: "admit" | "remove",
  about: string,
  counter: number,
  mostRows = 0,
  study = hash,
): MemberStatement => memberStatement(study, secretsOf(signer), { kind, key: keyOf(about), counter, mostRows });
const succeed = (old: string, next: string) => memberStatement(hash, secretsOf(old), { next: secretsOf(next) });

function membersAfter(...statements: readonly MemberStatement[]): string[] {
  const members = membership();
  members.add(statements);
  return ["a", "b", "c", "d", "x", "y", "z"].filter((name) => members.isMember(idOf(keyOf(name))));
}

it("one member that says as much as it may holds nobody up", () => {
  const members = membership();
  const taken = members.add(Array.from({ length: 1_000 }, (_, n) => say("a", "admit", n % 2 === 0 ? "x" : "y", n)));
  expect(taken.length).toBe(1_000);
  const begun = process.cpuUsage();
  for (let n = 0; n < 60; n++) members.add([say("b", "admit", "z", n)]);
  // One second of the processor; where all statements are gone through for each of them, ten and more.
  expect(process.cpuUsage(begun).user).toBeLessThan(5e6);
});

it("a frame that is longer than the statements that it says it has is refused before they are read", () => {
  const contract = { hash, k: 1, d: 1, low: Float64Array.of(0), high: Float64Array.of(1) };
  const statements = [1, 2, 3].map((counter) => say("a", "admit", "x", counter));
  const frame = encodeMembers(contract, { digest: new Uint8Array(32), isAsking: false, statements });
  expect(decodeMembers(frame)?.statements.length).toBe(3);
  frame[10] = 1;
  const reading = vi.spyOn(frame, "subarray");
  expect(decodeMembers(frame)).toBeUndefined();
  expect(reading).not.toHaveBeenCalled();
});

describe("members", () => {
  it("are the founders, and whomever two of them admit", () => {
    expect(membersAfter()).toEqual(founders);
    expect(membersAfter(say("a", "admit", "x", 1))).toEqual(founders);
    expect(membersAfter(say("a", "admit", "x", 1), say("a", "admit", "x", 1, 5))).toEqual(founders);
    expect(membersAfter(say("a", "admit", "x", 1), say("b", "admit", "x", 1))).toEqual([...founders, "x"]);
    expect(membersAfter(say("a", "admit", "x", 1), say("b", "admit", "x", 2))).toEqual(founders);
  });

  it("may admit others once they are in, and strangers may not, however many they are", () => {
    const x = [say("a", "admit", "x", 1), say("b", "admit", "x", 1)];
    expect(membersAfter(say("x", "admit", "y", 1), say("a", "admit", "y", 1), ...x)).toEqual([...founders, "x", "y"]);
    expect(membersAfter(say("x", "admit", "y", 1), say("z", "admit", "y", 1), say("y", "admit", "y", 1))).toEqual(
      founders,
    );
    expect(membersAfter(say("a", "admit", "y", 1), say("x", "admit", "y", 1))).toEqual(founders);
    // Whoever one member admits has no voice for others.
    const half = [say("a", "admit", "x", 1), say("a", "admit", "y", 1), say("x", "admit", "y", 1)];
    expect(membersAfter(...half)).toEqual(founders);
  });

  it("go when two say so, or when they say so themselves, and may come again", () => {
    expect(membersAfter(say("a", "remove", "d", 0))).toEqual(founders);
    const gone = [say("a", "remove", "d", 0), say("b", "remove", "d", 0)];
    expect(membersAfter(...gone)).toEqual(["a", "b", "c"]);
    expect(membersAfter(say("d", "remove", "d", 0))).toEqual(["a", "b", "c"]);
    const back = [say("a", "admit", "d", 1), say("c", "admit", "d", 1)];
    expect(membersAfter(...gone, ...back.slice(1))).toEqual(["a", "b", "c"]);
    expect(membersAfter(...gone, ...back)).toEqual(founders);
    expect(membersAfter(...gone, ...back, say("b", "remove", "d", 1))).toEqual(founders);
    expect(membersAfter(...gone, ...back, say("b", "remove", "d", 1), say("a", "remove", "d", 1))).toEqual([
      ...["a", "b", "c"],
    ]);
  });

  it("keep their admissions when a voucher goes", () => {
    const x = [say("a", "admit", "x", 1), say("b", "admit", "x", 1)];
    expect(membersAfter(...x, say("b", "remove", "b", 0))).toEqual(["a", "c", "d", "x"]);
  });

  it("go on under another key that has signed too, with one voice", () => {
    expect(membersAfter(succeed("a", "x"))).toEqual(["b", "c", "d", "x"]);
    expect(membersAfter(succeed("a", "x"), say("a", "admit", "y", 1), say("x", "admit", "y", 1))).toEqual([
      ...["b", "c", "d", "x"],
    ]);
    // Two new keys: one may be a thief's.
    expect(membersAfter(succeed("a", "x"), succeed("a", "y"))).toEqual(["b", "c", "d"]);
    // Nobody gets away from its removal by a new key.
    const gone = [say("b", "remove", "a", 0), say("c", "remove", "a", 0)];
    expect(membersAfter(succeed("a", "x"), ...gone)).toEqual(["b", "c", "d"]);
    const [half] = [succeed("a", "x")];
    const bytes = half.bytes.slice();
    bytes[bytes.length - 1] ^= 1;
    expect(membersAfter({ ...half, bytes })).toEqual(founders);
  });

  it("may hold as many rows as enough of those who admit them grant", () => {
    const members = membership();
    const rows = (name: string) => members.mostRowsOf(idOf(keyOf(name)));
    expect(rows("a")).toBe(100);
    members.add([say("a", "admit", "x", 1, 50), say("b", "admit", "x", 1, 70)]);
    expect(rows("x")).toBe(50);
    const before = members.hash;
    members.add([say("c", "admit", "x", 1)]);
    expect(rows("x")).toBe(70);
    expect(members.hash).not.toEqual(before);
    members.add([succeed("x", "y")]);
    expect([rows("x"), rows("y")]).toEqual([0, 70]);
  });

  it("are the same whatever was heard first", () => {
    const said = [
      ...["a", "b", "c"].map((signer) => say(signer, "admit", "x", 1)),
      ...[say("x", "admit", "y", 1), say("d", "admit", "y", 1), say("y", "remove", "b", 0), say("x", "remove", "b", 0)],
      ...[succeed("c", "z"), say("z", "admit", "x", 2), say("y", "admit", "x", 2), say("x", "remove", "x", 1)],
    ];
    const whole = membership();
    whole.add(said);
    fc.assert(
      fc.property(fc.shuffledSubarray(said, { minLength: said.length }), (order) => {
        const other = membership();
        // Twice: what comes before its signer is known to be a member is said again.
        for (const statement of [...order, ...order, ...order, ...order]) other.add([statement]);
        expect(other.hash).toEqual(whole.hash);
        expect(other.digest).toEqual(whole.digest);
      }),
      { numRuns: 200 },
    );
  });

  it("are nobody's to name without a signature for this study", () => {
    const members = membership();
    const good = say("a", "admit", "x", 1);
    const bytes = good.bytes.slice();
    bytes[100] ^= 1;
    expect(members.add([{ ...good, bytes }], () => true)).toBe("false");
    const other = say("a", "admit", "x", 1, 0, new Uint8Array(16).fill(1));
    expect(members.add([other], () => true)).toBe("false");
    expect(members.add([other])).toEqual([]);
    expect(members.add([good], () => false)).toEqual([]);
    expect(members.statements).toEqual([]);
    expect(members.add([good], () => true)).toEqual([good]);
  });

  it("travel to the byte", () => {
    const said = [say("a", "admit", "x", 7, 123_456_789_012), say("b", "remove", "c", 0), succeed("a", "y")];
    const bytes = Buffer.concat(said.map((one) => one.bytes));
    expect(said.map((one) => one.bytes.length)).toEqual([141, 141, 205]);
    expect(decodeMemberStatements(bytes)).toEqual(said);
    for (const length of [1, 140, 142, bytes.length - 1])
      expect(decodeMemberStatements(bytes.subarray(0, length))).toBeUndefined();
  });
});

describe("the exchange of statements", () => {
  const contract = { k: 1, d: 1, hash, low: Float64Array.of(0), high: Float64Array.of(1) };

  it("ends when both have shown the same, and nothing is sent where nobody has said anything", () => {
    const sides = [membership(), membership()].map((members) => ({ members, exchange: new MemberExchange(members) }));
    for (const { exchange } of sides) exchange.connect("other", 0);
    const frames: number[] = [];
    const turn = (now: number) => {
      sides.forEach(({ exchange }, i) => {
        for (const { frame } of exchange.due(contract, now).frames) {
          const message = decodeMembers(frame);
          if (message === undefined) throw new Error("a frame must be whole");
          const { members, exchange: there } = sides[1 - i];
          if (members.add(message.statements, () => true).length > 0) there.announce(now);
          there.hear("other", message);
          frames.push(message.statements.length);
        }
      });
    };
    for (let now = 0; now < 100; now++) turn(now);
    expect(frames).toEqual([]);
    sides[0].members.add([say("a", "admit", "x", 1)]);
    sides[1].members.add([say("b", "admit", "x", 1)]);
    for (let now = 100; now < 10_000; now += 10) turn(now);
    expect(sides[0].members.hash).toEqual(sides[1].members.hash);
    expect(sides[0].members.isMember(idOf(keyOf("x")))).toBe(true);
    expect(frames.length).toBeLessThanOrEqual(4);
  });

  it("refuses frames that are cut or have other flags", () => {
    const frame = encodeMembers(contract, { digest: new Uint8Array(32), isAsking: true, statements: [] });
    expect(decodeMembers(frame)).toMatchObject({ isAsking: true, statements: [] });
    expect(decodeMembers(frame.subarray(0, -1))).toBeUndefined();
    const wrong = frame.slice();
    wrong[76] = 2;
    expect(decodeMembers(wrong)).toBeUndefined();
  });
});

const { datasets } = paperData("iso", 6, 60, 3);
const noRows: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };
const nameOf = (i: number) => `device-${i}`;
const foundedText = (count: number, more = "") => `name: founded
k: 3
clusters: shared
privacy: open
minimum: 1
${more}founders: [${Array.from({ length: count }, (_, i) => nameOf(i)).join(", ")}]
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`;

async function networkWith(founded: number, changes: Partial<SimulationOptions> = {}) {
  const study = parseStudy(foundedText(founded));
  const contract = await contractOf(study);
  const network = simulate({ study, contract, datasets, graph: complete(6), seed: 1, ...changes });
  const said = (signer: number, kind: "admit" | "remove", about: number, counter: number) =>
    memberStatement(contract.hash, secretsOf(nameOf(signer)), { kind, key: keyOf(nameOf(about)), counter }).bytes;
  const rows = () => datasets.map((_, i) => network.status(i).shared?.pooledRows);
  return { network, said, rows };
}

describe("a network with founders", () => {
  it("counts the rows of members only, and those of others when two have admitted them", async () => {
    const { network, said, rows } = await networkWith(5);
    network.run(30_000);
    expect(rows().slice(0, 5)).toEqual([300, 300, 300, 300, 300]);
    expect(network.status(0).neighbours.find(({ peer }) => peer === nameOf(5))?.fault).toContain("is not a member");
    network.addStatements(0, [said(0, "admit", 5, 1)]);
    network.run(30_000);
    expect(rows().slice(0, 5)).toEqual([300, 300, 300, 300, 300]);
    network.addStatements(3, [said(3, "admit", 5, 1)]);
    network.run(30_000);
    expect(rows()).toEqual([360, 360, 360, 360, 360, 360]);
    expect(network.status(0).neighbours.find(({ peer }) => peer === nameOf(5))?.fault).toBeNull();
    const [first] = network.centroids();
    for (const own of network.centroids()) expect(own.data).toEqual(first.data);
  });

  it("has the answer of a network without somebody who was removed, and keeps what was said over a crash", async () => {
    const { network, said, rows } = await networkWith(6);
    expect(network.settle(60_000)).toBe(true);
    expect(rows()).toEqual(datasets.map(() => 360));
    network.addStatements(1, [said(1, "remove", 5, 0)]);
    network.addStatements(2, [said(2, "remove", 5, 0)]);
    network.run(60_000);
    expect(rows().slice(0, 5)).toEqual([300, 300, 300, 300, 300]);
    network.crash(0);
    network.restart(0);
    network.run(60_000);
    expect(rows().slice(0, 5)).toEqual([300, 300, 300, 300, 300]);
    const never = await networkWith(6, { datasets: [...datasets.slice(0, 5), noRows] });
    expect(never.network.settle(60_000)).toBe(true);
    const [here, there] = [network.centroids()[0].data, never.network.centroids()[0].data];
    here.forEach((value, i) => {
      expect(value).toBeCloseTo(there[i], 6);
    });
  });
});
