// Members that claim rows they do not have: within their limits they count, beyond them their books remove them.

import { complete, paperData } from "@fedkm/core";
import { contractOf, type Simulation, type Study, simulate, studyOfPoints } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { idOf, sumsShape } from "@fedkm/device/shared";
import { expect, it } from "vitest";
import { type ClaimKind, movementOfBound, withClaims } from "../src/shared/claims.ts";

const LIAR = 0;
const honest = [1, 2, 3, 4, 5];
const liarId = idOf(simulatedSecrets(`device-${LIAR}`).key);

async function claimed(kind: ClaimKind, changes: Partial<Study>, ask: (network: Simulation) => void = () => {}) {
  const { datasets } = paperData("iso", 6, 60, 3);
  const [own] = datasets;
  const liar = { ...own, rows: 47, data: own.data.slice(0, 47 * own.cols) };
  const plain = studyOfPoints(datasets, ["x", "y"], { name: "shared", alpha: 0, k: 3 });
  const study: Study = { ...plain, clusters: "shared", colluders: 1, mostRows: 70, ...changes };
  const given = {
    study,
    contract: await contractOf(study),
    datasets: [liar, ...datasets.slice(1)],
    graph: complete(6),
  };
  const network = simulate({ ...given, seed: 1, staggerMilliseconds: 200, weather: { loss: 0.1 } });
  const added = await withClaims(sumsShape(study), { kind, liarRows: 47, mostRows: 70 }, async () => {
    network.run(10_000);
    ask(network);
    network.run(10_000);
  });
  const shared = honest.map((i) => network.status(i).shared);
  return { network, added, shared, without: () => withoutLiar({ ...given, seed: 1 }) };
}

async function withoutLiar(given: Parameters<typeof simulate>[0]) {
  const links = honest.map((i) => honest.filter((j) => j !== i));
  const network = simulate({ ...given, links: [[], ...links], absent: [LIAR] });
  network.run(20_000);
  return network.centroids()[1];
}

it.each([
  ["many rows", "claims 282 rows where 70 are allowed"],
  ["rows outside", "claims rows outside of the study's bounds"],
  ["fewer than none", "claims a negative number of rows"],
  ["wrong pads", "claims a negative number of rows"],
] as const)("a member that claims %s is left out by all, who then have the answer without it", async (kind, fault) => {
  const { network, shared, without } = await claimed(kind, { books: "agreed" }, (asked) => {
    for (const i of [1, 2]) asked.openBooks(i);
  });
  for (const one of shared) expect(one?.removed).toEqual([{ device: liarId, fault }]);
  const answers = network.centroids().slice(1);
  const alone = await without();
  for (const answer of answers) expect(answer.data).toEqual(alone.data);
  // A device that starts again knows it from its file.
  network.crash(3);
  network.restart(3);
  expect(network.status(3).shared?.removed).toEqual([{ device: liarId, fault }]);
});

it("owners of guarded devices open books as those of open ones do", async () => {
  const guarded = { privacy: "guarded", minimum: 10, books: "agreed" } as const;
  const { shared } = await claimed("every cluster", guarded, (asked) => {
    for (const i of [1, 2]) asked.openBooks(i);
  });
  for (const one of shared) expect(one?.books).toMatchObject({ unopened: [] });
});

it("a member within its limit is not accused, and moves no centroid further than its rows could", async () => {
  const { network, added, shared } = await claimed("every cluster", { books: "agreed" }, (asked) => {
    for (const i of [1, 2]) asked.openBooks(i);
  });
  for (const one of shared) {
    expect(one?.removed).toEqual([]);
    expect(one?.books).toMatchObject({ unopened: [] });
    expect(one?.books?.opened.find(({ device }) => device === liarId)?.rows).toBe(69);
  }
  const moved = movementOfBound(added, network.centroids()[1].data, 70);
  expect(moved).toBeGreaterThan(0.4);
  expect(moved).toBeLessThanOrEqual(1);
});

it("one owner alone opens nobody's books, and where books are asked for only those of owners who agree open", async () => {
  const one = await claimed("every cluster", { books: "agreed" }, (asked) => asked.openBooks(1));
  for (const shared of one.shared) expect([shared?.doubts, shared?.books]).toEqual([1, null]);
  const asked = await claimed("many rows", {}, (network) => {
    for (const i of [1, 2, 3]) network.openBooks(i);
  });
  const opened = asked.shared[0]?.books?.opened.map(({ device }) => device) ?? [];
  const agreed = [1, 2, 3].map((i) => idOf(simulatedSecrets(`device-${i}`).key));
  for (const device of opened) expect(agreed).toContain(device);
  // Those who have not opened must stay connected without one more.
  expect(6 - opened.length).toBeGreaterThanOrEqual(3);
});

it("private devices have no books, whatever is claimed", async () => {
  const { datasets } = paperData("iso", 6, 60, 3);
  const plain = studyOfPoints(datasets, ["x", "y"], { name: "private", alpha: 0, k: 3 });
  const release = { epsilon: 1, delta: 1e-5, lifetimeEpsilon: 4, typicalRows: 60, devices: 6 };
  const founders = datasets.map((_, i) => `device-${i}`);
  const study: Study = {
    ...plain,
    privacy: "private",
    clusters: "shared",
    colluders: 1,
    founders,
    vouchers: 2,
    ...release,
  };
  const seen: Uint8Array[] = [];
  const given = { study, contract: await contractOf(study), datasets, graph: complete(6), seed: 1 };
  const network = simulate({ ...given, onEvent: ({ frame }) => frame[5] === 11 && seen.push(frame) });
  network.run(10_000);
  for (const i of [1, 2, 3]) network.openBooks(i);
  network.run(10_000);
  expect(network.status(1).shared?.books).toBe(null);
  expect(seen).toEqual([]);
});
