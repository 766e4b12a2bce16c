// The audit of a recording of a device with shared clusters.

import { complete, type Matrix, paperData, stack, takeRows } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { simulatedPeer } from "../../device/src/simulation/links.ts";
import { simulate } from "../../device/src/simulation/simulate.ts";
import { simulatedSecrets } from "../../device/src/simulation/simulatedSecrets.ts";
import { contractOf, foundedStudy, type Study } from "../../device/src/study/study.ts";
import { studyOfPoints } from "../../device/src/study/studyOfPoints.ts";
import { studyId } from "../../device/src/wire/frames.ts";
import type { RecordedEvent } from "../../device/src/wire/recording.ts";
import { auditRecording } from "../src/audit.ts";

/** What an audit says of device 0, to which a row is added once all have settled. */
async function audited(privacy: "open" | "guarded" | "private") {
  const { datasets } = paperData("var", 4, 80, 3);
  const budget = { epsilon: 5, delta: 1e-5, lifetimeEpsilon: 20, typicalRows: 80, devices: 4 };
  const asked: Study = {
    ...studyOfPoints(datasets, ["x", "y"], { name: "recorded", alpha: 0, privacy }),
    minimum: privacy === "guarded" ? 10 : 1,
    clusters: "shared",
    colluders: 1,
    ...(privacy === "private" ? budget : {}),
  };
  const study = foundedStudy(
    asked,
    datasets.map((_, i) => simulatedPeer(i)),
  );
  const contract = await contractOf(study);
  const events: RecordedEvent[] = [];
  const record = (device: number, event: RecordedEvent) => {
    if (device === 0) events.push(event);
  };
  const network = simulate({ study, contract, datasets, graph: complete(4), seed: 1, record });
  network.settle(60_000);
  const rows: Matrix = stack([datasets[0], takeRows(datasets[1], [0])]);
  network.setRows(0, rows);
  network.run(1_000);
  network.settle(60_000);
  const header = { recording: "fedkm", version: 1, peer: "device-0", startedAt: "", clock: 0 } as const;
  const recordings = [{ header: { ...header, study: studyId(contract) }, events }];
  const secrets = simulatedSecrets("device-0");
  const said = await auditRecording({ recordings, self: "device-0", study, rows, history: undefined, secrets });
  const of = (attack: string) => said.tallies.find((tally) => tally.attack === attack);
  return { coalition: of("coalition"), totals: of("totals"), neighbours: said.neighbours, frames: said.frames };
}

describe("auditRecording of a device with shared clusters", () => {
  it("finds the row that was added to open ones, in the totals and by all neighbours together", async () => {
    const { coalition, totals, neighbours, frames } = await audited("open");
    expect(coalition).toMatchObject({ groups: 1, withRows: 1 });
    expect(totals).toMatchObject({ withRows: 1 });
    expect(neighbours).toBe(3);
    expect(frames).toBeGreaterThan(10);
  });

  it("finds no row of guarded ones, but the means that all neighbours together can compute", async () => {
    const { coalition, totals } = await audited("guarded");
    expect(coalition).toMatchObject({ groups: 1, withRows: 0 });
    expect(totals).toMatchObject({ withRows: 0 });
  });

  it("finds neither rows nor means of private ones", async () => {
    const { coalition, totals } = await audited("private");
    expect(coalition).toMatchObject({ groups: 0, withRows: 0 });
    expect(totals).toMatchObject({ withRows: 0 });
  });
});
