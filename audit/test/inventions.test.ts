// Two colluders and 244 devices that they invent, among ten honest ones with private rows: none of them shares the noise.

import { complete, type Matrix, paperData } from "@fedkm/core";
import { epsilonOfMu } from "@fedkm/core/release";
import {
  budgetOf,
  type Contract,
  contractOf,
  parseStudy,
  type SimulationOptions,
  type Study,
  simulate,
} from "@fedkm/device";
import { simulatedPeer, simulatedSecrets } from "@fedkm/device/inspect";
import { afterRound, askedSums, type Content, census, memberStatement, stages, sumsShape } from "@fedkm/device/shared";
import { describe, expect, it } from "vitest";
import { decodeLedger } from "../../device/src/privacy/ledger.ts";
import { inventors } from "./inventors.ts";

const HONEST = 10;
const { datasets: honestRows } = paperData("iso", HONEST, 60, 3);
const noRows: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };
const datasets = [...honestRows, noRows, noRows];
const named = (peer: string) => ({ peer, secrets: simulatedSecrets(peer) });
const honest = honestRows.map((_, i) => named(simulatedPeer(i)));
const colluders = [10, 11].map((i) => named(simulatedPeer(i)));
const invented = Array.from({ length: 244 }, (_, n) => named(`invented-${n}`));

const studyWith = (tolerated: number) =>
  parseStudy(`name: private
k: 3
clusters: shared
privacy: private
typicalRows: 60
devices: ${HONEST}
colluders: ${tolerated}
vouchers: 3
founders: [${[...honest, ...colluders].map(({ peer }) => peer).join(", ")}]
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`);

const varianceOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0) / values.length;

async function released(
  tolerated: number,
  attack: (study: Study, contract: Contract) => Partial<SimulationOptions> = () => ({}),
) {
  const study = studyWith(tolerated);
  const contract = await contractOf(study);
  const common = { study, contract, datasets, graph: complete(12), seed: 1, staggerMilliseconds: 0 };
  return { study, contract, network: simulate({ ...common, ...attack(study, contract) }) };
}

/** What the honest devices have added to their rows in all rounds, number by number, over the noise that is promised. */
function noiseIn({ study, network }: Awaited<ReturnType<typeof released>>) {
  const { releasing } = sumsShape(study);
  if (releasing === undefined) throw new Error("a private study must have releases");
  const posted = datasets.map((_, i) => decodeLedger(network.history(i) ?? new Uint8Array(0), 2)?.posted ?? []);
  const shares: number[][] = honestRows.map(() => []);
  let content: Content = { ...census(1), stage: stages.release };
  for (const round of releasing.rounds.keys()) {
    const added = posted.flatMap((own) => own.filter(({ stage }) => stage === `round ${round + 1}`));
    honestRows.forEach((rows, i) => {
      const own = posted[i].find(({ stage }) => stage === `round ${round + 1}`)?.integers ?? [];
      const asked = askedSums(releasing, content, rows);
      const exact = asked.flatMap(({ values, variance }) => Array.from(values, (value) => ({ value, variance })));
      expect(own.length).toBe(exact.length);
      shares[i].push(...exact.map(({ value, variance }, n) => (own[n] - value) / Math.sqrt(variance)));
    });
    const totals = Float64Array.from(added[0].integers, (_, n) => added.reduce((sum, one) => sum + one.integers[n], 0));
    const next = afterRound(releasing, content, totals, added.length);
    if (next === "implausible") throw new Error("a release must lead on");
    content = { ...next, stage: stages.release };
  }
  const sums = shares[0].map((_, n) => shares.reduce((sum, own) => sum + own[n], 0));
  return { mu: releasing.rules.mu, share: varianceOf(shares.flat()), sum: varianceOf(sums) };
}

/** What all rounds cost if the noise of honest devices has so much of the variance that is promised. */
function epsilonWith(study: Study, mu: number, part: number): number {
  return epsilonOfMu(mu / Math.sqrt(part), budgetOf(study).delta);
}

describe("two colluders with 244 invented devices among ten honest ones", () => {
  it("bring none of them into the census by entries, and the noise of the others is more than is promised", async () => {
    const run = await released(1, (study, contract) => {
      const attack = inventors({ study, contract, colluders, honest, invented });
      return {
        onEvent: ({ kind, from, to, frame }) =>
          kind === "arrive" && to >= HONEST && from < HONEST && attack.hear(frame),
        disguise(device, frame) {
          if (device < HONEST) return frame;
          const sequence = new DataView(frame.buffer, frame.byteOffset).getUint32(36, true);
          return attack.frame({ epoch: 1, sequence }) ?? frame;
        },
      };
    });
    const { network, study } = run;
    network.run(60_000);
    for (let i = 0; i < HONEST; i++) {
      const { shared, neighbours, private: spent } = network.status(i);
      expect(shared).toMatchObject({ stage: "frozen", devices: HONEST });
      expect(spent?.epsilonSpent).toBeCloseTo(1, 6);
      for (const { peer } of colluders)
        expect(neighbours.find((one) => one.peer === peer)?.fault).toBe(
          "sent sums of a device that has no part in them",
        );
    }
    const { mu, share, sum } = noiseIn(run);
    // Nine shares make the noise that is promised, and ten devices added one.
    expect(share * 9).toBeGreaterThan(0.8);
    expect(share * 9).toBeLessThan(1.2);
    expect(sum).toBeGreaterThan(0.6 * (10 / 9));
    expect(epsilonWith(study, mu, 10 / 9)).toBeLessThan(1);
  });

  it("cannot admit them, and with the colluders in the census the noise of the others is exactly what is promised", async () => {
    const run = await released(2);
    const { network, study, contract } = run;
    colluders.forEach(({ secrets }, n) => {
      const admitted = invented.map(({ secrets: { key } }) =>
        memberStatement(contract.hash, secrets, { kind: "admit", key, counter: 1 }),
      );
      network.addStatements(
        HONEST + n,
        admitted.map(({ bytes }) => bytes),
      );
    });
    network.run(60_000);
    for (let i = 0; i < HONEST; i++) {
      const { shared, private: spent } = network.status(i);
      expect(shared).toMatchObject({ stage: "frozen", devices: 12, members: 12 });
      expect(spent?.epsilonSpent).toBeCloseTo(1, 6);
    }
    const { mu, share, sum } = noiseIn(run);
    expect(share * 10).toBeGreaterThan(0.8);
    expect(share * 10).toBeLessThan(1.2);
    expect(sum).toBeGreaterThan(0.6);
    expect(sum).toBeLessThan(1.5);
    // Of twelve two may add none: the ten shares of the others are the noise that the accountant counts with.
    expect(epsilonWith(study, mu, 10 / (12 - 2))).toBeCloseTo(1, 6);
  });
});
