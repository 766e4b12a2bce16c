import { fit } from "@fedkm/core";
import { contractOf, simulate } from "@fedkm/device";
import { describe, expect, it } from "vitest";
import { ghostNetwork } from "../src/faults/change.ts";

describe("the choice among the starts of an opening", () => {
  it("leads an honest network with skewed rows to where fit is, although a gate shuts out what is far", async () => {
    // By the objective of the gate it ended 892 % above.
    const seed = 10;
    const { study, datasets, members, links } = ghostNetwork(seed, 1);
    const own = datasets.slice(0, members);
    const network = simulate({ study, contract: await contractOf(study), datasets: own, graph: links, seed });
    expect(network.settle(3_600_000)).toBe(true);
    const { k, alpha } = study;
    expect(network.objective()).toBeLessThan(1.001 * fit(own, links, { k, alpha, rounds: 5_000 }).objective);
  });
});
