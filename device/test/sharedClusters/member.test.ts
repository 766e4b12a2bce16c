// A member of a board by itself: what it makes of messages that neighbours send.

import { expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import type { BoardMessage } from "../../src/sharedClusters/boardFrame.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { orderOf } from "../../src/sharedClusters/generation.ts";
import { Member } from "../../src/sharedClusters/member.ts";
import { firstBase, generationOf } from "../../src/sharedClusters/proof.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { parseStudy } from "../../src/study/study.ts";
import { toInt64s } from "../../src/wire/int64.ts";

const shape = sumsShape(
  parseStudy(
    "name: s\nk: 1\nfeatures: [{ name: x, unit: m, min: -10, max: 10 }]\nclusters: shared\nprivacy: open\nseed: [[1]]\n",
  ),
);

it("an entry that shows a neighbour's start keeps the others of its message from the generation that it opens", () => {
  const [own, n, x] = ["own", "n", "x"].map((name) => simulatedSecrets(name));
  const rules = { shape, study: new Uint8Array(16), secrets: own, colluders: 1 };
  const member = new Member({ ...rules, epoch: 1, integersFor: () => Float64Array.of(3, 4) });
  member.setLinks(["n", "x"], 0, true);
  const now = generationOf(rules, firstBase(rules), new Map());
  const plain: BoardMessage = {
    ...{ kind: "board", stamp: { epoch: 1, sequence: 0 }, knows: 1, order: orderOf(now.base), hash: now.hash },
    ...{
      base: undefined,
      openings: [],
      isAsking: false,
      isDropped: false,
      isIdle: false,
      wantsOpening: false,
      isBelow: false,
    },
    ...{ hasHeard: false, have: [], integers: 2, entries: [] },
  };
  member.hear("n", plain, 1);
  member.hear("x", plain, 1);
  const partners = (peer: string) =>
    [{ peer: "own", id: idOf(own.key), epoch: 1 }].concat(
      peer === "n" ? { peer: "x", id: idOf(x.key), epoch: 2 } : { peer: "n", id: idOf(n.key), epoch: 1 },
    );
  const words = toInt64s([1, 2]);
  const ofX = maskedEntry(x, now, { epoch: 2, partners: partners("x"), words });
  const ofN = maskedEntry(n, now, { epoch: 1, partners: partners("n"), words });
  member.hear("n", { ...plain, entries: [ofX, ofN] }, 2);
  expect(member.generation.openings.size).toBe(1);
  const [link] = member.counted;
  expect(member.messagesFor(link, 3)[0].have).not.toContain(ofN.mark);
  expect(member.twofaced.size).toBe(0);
});
