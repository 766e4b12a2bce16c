// A paused device: it stays in its place and says so, the others go on around it, and it comes back without harm.

import { fit, ring } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { testSeed as seed } from "../../../test/runs.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { decodeFrame } from "../../src/wire/studyFrames.ts";
import { problem } from "../problem.ts";

const HOUR = 3_600_000;

describe("setPaused(i, true)", () => {
  it("ends where fit ends once it is over, whenever it begins and whatever happens in between", async () => {
    for (const begin of [600, 1200]) {
      const given = await problem("iso", ring(6), seed);
      const network = simulate(given);
      network.run(begin);
      network.setPaused(2, true);
      network.setPaused(3, true);
      network.run(2000);
      network.crash(3);
      network.run(500);
      network.restart(3);
      expect(network.settle(HOUR)).toBe(true);
      expect(network.status(2).phase).toBe("paused");
      expect(network.status(3).phase).toBe("paused");
      expect(network.status(1).phase).toBe("settled");
      network.run(HOUR);
      network.setPaused(2, false);
      network.setPaused(3, false);
      expect(network.settle(HOUR)).toBe(true);
      const { objective: best } = fit(given.datasets, ring(6), { k: 3, alpha: 1, seed, rounds: 10_000 });
      expect(Math.abs(network.objective() / best - 1)).toBeLessThan(1e-3);
    }
  });

  it("sends what it last sent, at every heartbeat, and counts with its neighbours for as long as it lasts", async () => {
    const given = await problem("iso", ring(5), seed);
    const sent: { at: number; centroids: string }[] = [];
    const network = simulate({
      ...given,
      record: (device, { kind, at, frame }) => {
        const decoded = device === 2 && kind === "sent" ? decodeFrame(given.contract, frame) : undefined;
        if (decoded?.kind === "centroids") sent.push({ at, centroids: decoded.centroids.data.join(" ") });
      },
    });
    // In the middle of the opening, when every device still moves.
    network.run(1200);
    expect(network.status(2)).toMatchObject({ phase: "moving", centroids: expect.anything() });
    expect(sent.length).toBeGreaterThan(0);
    network.setPaused(2, true);
    const { round } = network.status(2);
    const last = sent.at(-1)?.centroids;
    sent.length = 0;
    network.setRows(0, given.datasets[1]);
    network.run(HOUR);
    expect(new Set(sent.map(({ centroids }) => centroids))).toEqual(new Set([last]));
    // To two neighbours, once in 30 seconds.
    expect(sent.length).toBeGreaterThanOrEqual(2 * 118);
    expect(sent.length).toBeLessThanOrEqual(2 * 121);
    expect(network.status(2).round).toBe(round);
    expect(network.status(1).neighbours.map(({ isAway }) => isAway)).toEqual([false, false]);
  });

  it("lasts over a restart, and no first update is made before it is over", async () => {
    const network = simulate({ ...(await problem("iso", ring(3), seed)), absent: [0] });
    network.setPaused(0, true);
    network.restart(0);
    network.run(60_000);
    expect(network.status(0)).toMatchObject({ phase: "paused", round: 0, centroids: null });
    network.setPaused(0, false);
    expect(network.settle(HOUR)).toBe(true);
    expect(network.status(0).phase).toBe("settled");
  });
});
