// Folders that were restored from old copies: neighbours know better, and are asked before anything of the rows is sent.

import { complete, paperData } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, type Study } from "../../src/study/study.ts";
import { isOfKind } from "../../src/wire/frames.ts";
import { encodeHistoryFrame, signedHeadBytes } from "../../src/wire/historyFrames.ts";
import { studyWith } from "../problem.ts";

const common = { k: 3, minimum: 10 } as const;
const studies: Record<string, Study> = {
  "personal, guarded": studyWith({ ...common, privacy: "guarded" }),
  "personal, private": studyWith({ ...common, privacy: "private", weighting: "device", typicalRows: 200 }),
  "shared, guarded": studyWith({ ...common, privacy: "guarded", clusters: "shared", alpha: 0, colluders: 1 }),
  "shared, private": studyWith({
    ...{ ...common, privacy: "private", clusters: "shared", alpha: 0, colluders: 1, devices: 5, typicalRows: 200 },
  }),
};
const OLD = 0;
const WITNESS = 1;

async function networkOf(study: Study, seed: number, changes: Partial<SimulationOptions> = {}) {
  const contract = await contractOf(study);
  const { datasets } = paperData("iso", 5, 200, seed);
  /** Frames of the device that may rest on its rows, since they were last counted; and what it knew when it sent them. */
  const sent: boolean[] = [];
  const isOfRows = (frame: Uint8Array) =>
    (["centroids", "board", "proof"] as const).some((kind) => isOfKind(frame, kind));
  const network = simulate({
    ...{ study, contract, graph: complete(5), seed, staggerMilliseconds: 200, tellsHistory: true },
    // Releases of few rows jitter for long.
    paceMilliseconds: () => 200,
    // Some of its rows come later.
    datasets: datasets.map((rows, i) => (i === OLD ? { ...rows, rows: 150, data: rows.data.slice(0, 300) } : rows)),
    record: (device, { kind, frame }) => {
      if (device === OLD && kind === "sent" && isOfRows(frame)) sent.push(isLost());
    },
    ...changes,
  });
  const isLost = () => {
    const status = network.status(OLD);
    return (status.guarded ?? status.private)?.isHistoryLost === true;
  };
  /** It publishes something that it had not published before. */
  const publishMore = () => {
    network.setRows(OLD, datasets[OLD]);
    if (study.privacy === "private") network.consent(OLD);
    network.run(30_000);
  };
  /** Its folder is what it was when it was copied. */
  const restoreTo = (copy: ReturnType<typeof network.snapshot>) => {
    network.crash(OLD);
    network.restore(OLD, copy);
    network.run(1_000);
    sent.splice(0);
    network.restart(OLD);
  };
  return { network, sent, isLost, restoreTo, publishMore, contract };
}

describe.each(Object.entries(studies))("an old copy of a folder: %s", (_, study) => {
  it("is found before anything of the rows is sent, whenever the copy was made, and by all neighbours", async () => {
    for (const [seed, copiedAt] of [1, 100, 15_000].entries()) {
      const { network, sent, isLost, restoreTo, publishMore } = await networkOf(study, seed + 1);
      network.run(210 + copiedAt);
      const copy = network.snapshot(OLD);
      publishMore();
      expect(isLost()).toBe(false);
      restoreTo(copy);
      network.run(30_000);
      expect(isLost()).toBe(true);
      expect(sent).not.toContain(false);
      expect(network.status(OLD).history?.witness).toMatch(/^device-/);
      for (let i = 1; i < 5; i++) {
        const { fault } = network.status(i).neighbours.find(({ peer }) => peer === "device-0") ?? {};
        expect(fault).toContain("old copy");
      }
    }
  });

  it("sends nothing to neighbours that were away while those who know better are still asked", async () => {
    const { network, sent, isLost, restoreTo, publishMore } = await networkOf(study, 7);
    network.run(15_000);
    const copy = network.snapshot(OLD);
    for (const away of [3, 4]) network.setCut(OLD, away, true);
    publishMore();
    network.crash(OLD);
    for (const other of [1, 2, 3, 4]) network.setCut(OLD, other, other <= 2);
    restoreTo(copy);
    network.run(8_000);
    expect([isLost(), sent]).toEqual([false, []]);
    for (const witness of [1, 2]) network.setCut(OLD, witness, false);
    network.run(30_000);
    expect([isLost(), sent.includes(false)]).toEqual([true, false]);
  });

  it("goes on as another history after its owner has consented, and the others see that", async () => {
    const { network, sent, isLost, restoreTo, publishMore } = await networkOf(study, 4);
    network.run(300);
    const copy = network.snapshot(OLD);
    publishMore();
    restoreTo(copy);
    network.run(20_000);
    network.consent(OLD);
    network.run(20_000);
    expect(isLost()).toBe(false);
    expect(sent).toContain(false);
    const { lineage = 0 } = network.snapshot(OLD).heads?.own ?? {};
    expect(lineage).toBeGreaterThan(copy.heads?.own.lineage ?? 0);
    expect(network.snapshot(WITNESS).heads?.neighbours.get("device-0")?.lineage).toBe(lineage);
    const { fault } = network.status(WITNESS).neighbours.find(({ peer }) => peer === "device-0") ?? {};
    expect(fault).toContain("as its owner consented");
    // An older copy still is one.
    restoreTo(copy);
    network.run(20_000);
    expect([isLost(), sent.includes(false)]).toEqual([true, false]);
  });

  it("is not taken for one after a crash, or when nothing was published since", async () => {
    const { network, sent, isLost, restoreTo } = await networkOf(study, 5);
    for (const after of [100, 300, 10_000]) {
      network.run(after);
      network.crash(OLD);
      network.run(500);
      network.restart(OLD);
      network.run(100);
      expect(isLost()).toBe(false);
    }
    network.run(20_000);
    restoreTo(network.snapshot(OLD));
    network.run(20_000);
    expect([isLost(), sent.includes(false)]).toEqual([false, true]);
  });

  it("is not taken for one at a neighbour's word: only the device's own signature counts", async () => {
    const { network, isLost, contract } = await networkOf(study, 6);
    network.run(30_000);
    const head = { lineage: 9, count: 1_000, mark: "ab".repeat(16) };
    const forged = { ...head, signature: simulatedSecrets("device-1").sign(signedHeadBytes(head)) };
    const message = { own: undefined, yours: forged, isAsking: true, isLost: false };
    network.forge(WITNESS, OLD, encodeHistoryFrame(contract, message));
    network.run(10_000);
    expect(isLost()).toBe(false);
    const { fault } = network.status(OLD).neighbours.find(({ peer }) => peer === "device-1") ?? {};
    expect(fault).toContain("not signed");
  });

  it("is named by its neighbours, which hear nothing of it while its history goes back or is not signed", async () => {
    const { network, contract } = await networkOf(study, 8);
    network.run(60_000);
    const known = network.snapshot(OLD).heads?.neighbours.get("device-1") ?? expect.fail("nothing is known");
    const seen = () => network.status(OLD).neighbours.find(({ peer }) => peer === "device-1");
    const say = (count: number, signer: string) => {
      const head = { lineage: known.lineage, count, mark: "ab".repeat(16) };
      const own = { ...head, signature: simulatedSecrets(signer).sign(signedHeadBytes(head)) };
      const message = { own, yours: undefined, isAsking: false, isLost: false };
      network.forge(WITNESS, OLD, encodeHistoryFrame(contract, message));
      network.run(1_000);
    };
    say(known.count - 1, "device-1");
    expect(seen()?.fault).toContain("old copy");
    const { framesHeard } = seen() ?? {};
    network.run(45_000);
    expect(seen()?.framesHeard).toBe(framesHeard);
    say(known.count + 1, "device-2");
    expect(seen()?.fault).toContain("not signed");
    expect(network.snapshot(OLD).heads?.neighbours.get("device-1")).toEqual(known);
  });
});
