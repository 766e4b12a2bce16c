// Folders restored from old copies, guarded and private, personal and shared: whether the device finds out before it sends
// anything that may rest on its rows, and how many different releases come of one copy.

import { complete, paperData } from "@fedkm/core";
import { contractOf, type Study, simulate, studyOfPoints } from "@fedkm/device";
import { isOfKind } from "@fedkm/device/inspect";
import { print } from "../measure.ts";

const OLD = 0;
const DEVICES = 5;
const ROWS = 200;
/** Lives of one copy. */
const LIVES = 20;

const peers = Array.from({ length: DEVICES }, (_, i) => `device-${i}`);

/** Of what a device sends, this may rest on its rows. */
const ofRows = ["centroids", "board", "proof"] as const;

function studies(seed: number): Record<string, Study> {
  const { datasets } = paperData("iso", DEVICES, ROWS, seed);
  const bounds = { name: `restored ${seed}`, k: 3, alpha: 1, minimum: 10 };
  const plain = (privacy: Study["privacy"], alpha = 1) =>
    studyOfPoints(datasets, ["x1", "x2"], { ...bounds, alpha, privacy });
  const shared = { clusters: "shared", colluders: 1 } as const;
  const released = { epsilon: 1, delta: 1e-5, lifetimeEpsilon: 4, typicalRows: ROWS } as const;
  const members = { devices: DEVICES, founders: peers, vouchers: 2 };
  return {
    "personal, guarded": plain("guarded"),
    "personal, private": { ...plain("private"), ...released },
    "shared, guarded": { ...plain("guarded", 0), ...shared },
    "shared, private": { ...plain("private", 0), ...released, ...shared, ...members },
  };
}

async function restoredNetwork(study: Study, seed: number) {
  const { datasets } = paperData("iso", DEVICES, ROWS, seed);
  const contract = await contractOf(study);
  let [sent, unaware] = [0, 0];
  const simulated = simulate({
    ...{ study, contract, graph: complete(DEVICES), seed, staggerMilliseconds: 200, tellsHistory: true },
    // Some of its rows come later, and are published then.
    datasets: datasets.map((rows, i) => (i === OLD ? { ...rows, rows: 150, data: rows.data.slice(0, 300) } : rows)),
    // Releases of few rows jitter for long.
    paceMilliseconds: () => 200,
    record(device, { kind, frame }) {
      if (device !== OLD || kind !== "sent" || !ofRows.some((one) => isOfKind(frame, one))) return;
      sent++;
      if (!isLost()) unaware++;
    },
  });
  const isLost = () => {
    const { guarded, private: released } = simulated.status(OLD);
    return (guarded ?? released)?.isHistoryLost === true;
  };
  return {
    simulated,
    isLost,
    publishMore() {
      simulated.setRows(OLD, datasets[OLD]);
      if (study.privacy === "private") simulated.consent(OLD);
      simulated.run(20_000);
    },
    /** Frames that it sent in this life, and those before it knew. */
    live(copy: ReturnType<typeof simulated.snapshot>) {
      simulated.crash(OLD);
      simulated.restore(OLD, copy);
      simulated.run(500);
      [sent, unaware] = [0, 0];
      simulated.restart(OLD);
      simulated.run(20_000);
      return { sent, unaware };
    },
  };
}

export async function restoredFolders({ restores }: { restores: number }): Promise<boolean> {
  const rows = [
    ["clusters", "restores", "found", "frames before that", "named by all neighbours", "taken for one, wrongly"],
  ];
  let isGood = true;
  const each = Math.ceil(restores / 4);
  for (const name of Object.keys(studies(1))) {
    let [found, before, named, wrong] = [0, 0, 0, 0];
    for (let n = 0; n < each; n++) {
      const { simulated, isLost, publishMore, live } = await restoredNetwork(studies(n + 1)[name], n + 1);
      // From the first moment to long after everything has settled.
      simulated.run(210 + 3 * n ** 3);
      const copy = simulated.snapshot(OLD);
      publishMore();
      const latest = simulated.snapshot(OLD);
      live(latest);
      if (isLost()) wrong++;
      before += live(copy).unaware;
      if (isLost()) found++;
      const others = peers.slice(1).map((_, i) => simulated.status(i + 1).neighbours);
      const isNamed = others.every((all) => all.find(({ peer }) => peer === peers[OLD])?.fault?.includes("old copy"));
      if (isNamed) named++;
    }
    isGood &&= found === each && before === 0 && named === each && wrong === 0;
    rows.push([name, ...[each, found, before, named, wrong].map(String)]);
  }
  print("Folders restored from old copies, five devices", rows);
  const lives = await releasesOfOneCopy();
  print(`One copy of a private folder, made before its first release, started ${LIVES} times`, [
    ["clusters", "different ledgers", "found after the first"],
    ...lives.map(({ name, ledgers, found }) => [name, String(ledgers), `${found} of ${LIVES - 1}`]),
  ]);
  return isGood && lives.every(({ ledgers, found }) => ledgers === 1 && found === LIVES - 1);
}

/** What each life has released, as its ledger says. */
async function releasesOfOneCopy() {
  const found: { readonly name: string; readonly ledgers: number; readonly found: number }[] = [];
  for (const name of ["personal, private", "shared, private"]) {
    const { simulated, isLost, live } = await restoredNetwork(studies(1)[name], 1);
    simulated.run(201);
    const copy = simulated.snapshot(OLD);
    simulated.run(90_000);
    const released = (text: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(text)).releases.length > 0;
    const ledgers = new Set<string>();
    let many = 0;
    for (let life = 1; life <= LIVES; life++) {
      if (life > 1) live(copy);
      if (life > 1 && isLost()) many++;
      const { history } = simulated.snapshot(OLD);
      if (released(history)) ledgers.add(new TextDecoder().decode(history));
    }
    found.push({ name, ledgers: ledgers.size, found: many });
  }
  return found;
}
