// A member of a board by itself: what it makes of messages that neighbours send.

import { expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { generation } from "../../src/sharedClusters/generation.ts";
import { Member } from "../../src/sharedClusters/member.ts";
import { firstContent } from "../../src/sharedClusters/plan.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { parseStudy } from "../../src/study/study.ts";
import { toInt64s } from "../../src/wire/int64.ts";

const shape = sumsShape(
  parseStudy(
    "name: s\nk: 1\nfeatures: [{ name: x, unit: m, min: -10, max: 10 }]\nclusters: shared\nprivacy: open\nseed: [[1]]\n",
  ),
);
const study = new Uint8Array(16);

it("an entry that shows a neighbour's start keeps the others of its message from the generation that it opens", () => {
  const [own, n, x] = ["own", "n", "x"].map((name) => simulatedSecrets(name));
  const content = firstContent(shape);
  const start = { number: 0, content };
  const integersFor = () => Float64Array.of(3, 4);
  const member = new Member({ shape, study, secrets: own, epoch: 1, colluders: 1, start, integersFor });
  member.setLinks(["n", "x"], 0, true);
  const now = generation(0, content, study, own.digest);
  const flags = { isDropped: false, isAsking: false, isBelow: false, hasHeard: false };
  const said = (epoch: number) =>
    ({ kind: "board", stamp: { epoch, sequence: 0 }, knows: 1, ...flags, ...start }) as const;
  const plain = { hash: now.hash, have: [], entries: [] };
  member.hear("n", { ...said(1), ...plain }, 1);
  member.hear("x", { ...said(1), ...plain }, 1);
  const partners = (peer: string) =>
    [{ peer: "own", id: idOf(own.key), epoch: 1 }].concat(
      peer === "n" ? { peer: "x", id: idOf(x.key), epoch: 2 } : { peer: "n", id: idOf(n.key), epoch: 1 },
    );
  const words = toInt64s([1, 2]);
  const ofX = maskedEntry(x, now, { epoch: 2, partners: partners("x"), words });
  const ofN = maskedEntry(n, now, { epoch: 1, partners: partners("n"), words });
  member.hear("n", { ...said(1), ...plain, entries: [ofX, ofN] }, 2);
  expect(member.generation.number).toBe(1);
  const [link] = member.counted;
  expect(member.messageFor(link, 3).have).not.toContain(ofN.mark);
  expect(member.twofaced.size).toBe(0);
});
