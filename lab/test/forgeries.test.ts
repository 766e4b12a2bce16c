// A member that forges frames of shared clusters beside its honest ones: the others' answer stays, and they name it.

import { complete, paperData } from "@fedkm/core";
import { contractOf, foundedStudy, type Study, simulate, studyOfPoints } from "@fedkm/device";
import { simulatedPeer, simulatedSecrets } from "@fedkm/device/inspect";
import { describe, expect, it } from "vitest";
import { forger, forgeryKinds } from "../src/integrity/forgeries.ts";

const { datasets } = paperData("iso", 5, 60, 3);
const others = [1, 2, 3, 4];
const invented = [0, 1, 2, 3].map((n) => ({ peer: `no-${n}`, secrets: simulatedSecrets(`no-${n}`) }));

async function attacked(kind: (typeof forgeryKinds)[number], changes: Partial<Study> = {}, isFounded = false) {
  const asked: Study = {
    ...studyOfPoints(datasets, ["x", "y"], { name: "shared", alpha: 0, ...changes }),
    clusters: "shared",
    colluders: 1,
    ...(changes.devices && { devices: changes.devices }),
  };
  const peers = datasets.map((_, i) => simulatedPeer(i));
  const study = foundedStudy(isFounded ? { ...asked, founders: peers.toSorted(), vouchers: 2 } : asked, peers);
  const contract = await contractOf(study);
  const secrets = simulatedSecrets("device-0");
  const victim = { peer: "device-1", key: simulatedSecrets("device-1").key };
  const liar = forger(kind, { study, contract, secrets, victim, invented });
  let sequence = 0;
  let epoch = 1;
  const network = simulate({
    ...{ study, contract, datasets, graph: complete(5), seed: 1, staggerMilliseconds: 200 },
    onEvent: ({ to, frame }) => to === 0 && frame.length > 0 && liar.hear(frame),
    disguise(device, frame) {
      if (device !== 0) return frame;
      const copy = frame.slice();
      new DataView(copy.buffer).setUint32(36, ++sequence, true);
      new DataView(copy.buffer).setUint32(28, epoch, true);
      return copy;
    },
  });
  expect(network.settle(120_000)).toBe(true);
  const before = others.map((i) => network.status(i).centroids);
  for (let n = 0; n < 10; n++) {
    if (kind === "epochs") epoch++;
    for (const to of others) network.forge(0, to, liar.forge(`device-${to}`, { epoch, sequence: ++sequence }).frame);
    network.run(900);
  }
  return { network, before };
}

const near = (one: readonly (readonly number[])[] | null, other: readonly (readonly number[])[] | null) =>
  Math.max(...(one ?? []).flatMap((row, c) => row.map((value, f) => Math.abs(value - (other?.[c][f] ?? Number.NaN)))));

describe("a forger among five", () => {
  it.each(forgeryKinds)(
    "that sends a %s changes no answer and is named within ten seconds, and nobody else is",
    async (kind) => {
      const { network, before } = await attacked(kind);
      for (const [n, i] of others.entries()) {
        const { centroids, neighbours } = network.status(i);
        // Without its rows means are others, with the same clusters; what it forged is half a range away.
        expect(near(centroids, before[n])).toBeLessThan(0.5);
        const { fault, conflict } = neighbours.find(({ peer }) => peer === "device-0") ?? {};
        expect(fault ?? conflict, `device ${i}`).toBeTruthy();
        for (const other of neighbours) if (other.peer !== "device-0") expect(other.fault, other.peer).toBeNull();
      }
    },
  );

  it("that invents signers and members changes no answer in a study with founders", async () => {
    const { network, before } = await attacked("invented signers", {}, true);
    for (const [n, i] of others.entries()) expect(near(network.status(i).centroids, before[n])).toBeLessThan(0.5);
  });

  it("of a frozen answer reaches nobody, before and after the release", async () => {
    const { network, before } = await attacked("result", { privacy: "private", typicalRows: 60, devices: 5 });
    expect(before.every((centroids) => centroids !== null)).toBe(true);
    for (const [n, i] of others.entries()) expect(network.status(i).centroids).toEqual(before[n]);
  });
});
