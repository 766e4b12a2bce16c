// Devices of this machine as the dashboard's page shows them: their folders' snapshots in its words, and its actions on them.

import { type PrivateStatus, whatAllLearn, whatNeighboursLearn } from "@fedkm/device";
import {
  auditLogFacts,
  type DaemonStatus,
  type DeviceSnapshot,
  type LinkStatus,
  snapshotFolders,
  snapshotReader,
} from "@fedkm/device/daemon";
import { printable } from "@fedkm/files/printable";
import type { DeviceView, LedgerView, LinkView, PrivacyView, Snapshot } from "@fedkm/web";
import type { DashboardSource } from "@fedkm/web/server";
import { modelOfFolder } from "../deviceModel.ts";
import { countLabel } from "../numbers.ts";
import { performAction } from "./actions.ts";

/** `folders` are those of devices, each with a name of its own. */
export function dashboardSource(folders: readonly string[]): DashboardSource {
  const known = snapshotFolders(folders);
  const read = snapshotReader(known);
  return {
    async snapshot() {
      const devices = (await read()).map(deviceView);
      // Some of the words come from other devices: what could turn the writing direction is shown as a number.
      const clean = (_: string, value: unknown) => (typeof value === "string" ? printable(value) : value);
      return JSON.stringify({ devices } satisfies Snapshot, clean);
    },
    act: (request) => performAction(request, known),
    async exported(id) {
      const folder = known.get(id);
      const model = folder === undefined ? undefined : await modelOfFolder(folder).catch(() => undefined);
      return model && { name: `${id}.json`, text: `${JSON.stringify(model, undefined, 2)}\n` };
    },
  };
}

function deviceView(snapshot: DeviceSnapshot): DeviceView {
  const { id, status, isRunning, study, names, profiles, history, log } = snapshot;
  const { name, startedAt, dataReadAt, memoryBytes, device, links, pending, notices } = status;
  const { peer, phase, rows, rowsLeftOut, round, objective, move, threshold, framesSent, centroids } = device;
  const { k, alpha, features } = study;
  const shown = features.map((feature) => ({ name: feature.name, unit: feature.unit, scale: feature.scale }));
  return {
    id,
    isRunning,
    study: { name: study.name, hash: status.studyHash, k, alpha, features: shown },
    names,
    profiles,
    history,
    log: log.map((line) => ({ at: line.at, text: [line.event, ...auditLogFacts(line)].join(", ") })),
    name,
    peer,
    phase,
    startedAt,
    dataReadAt,
    privacy: privacyView(device),
    rows,
    rowsLeftOut,
    round,
    objective,
    move,
    threshold,
    framesSent,
    memoryBytes,
    clusters: centroids,
    links: links.map((link) => linkView(link, Date.parse(status.writtenAt))),
    pending: pending.filter((stranger) => links.every((link) => link.peer !== stranger.peer)),
    notices,
  };
}

function privacyView(device: DaemonStatus["device"]): PrivacyView {
  const { privacy, guarded, drift, shared } = device;
  const ledger = device.private == null ? null : ledgerView(device.private);
  const facts: PrivacyView["facts"][number][] = [];
  if (guarded !== null) {
    const { smallestClass, rowsHeldBack, rowsWaiting } = guarded;
    facts.push(
      { name: "smallest class", value: smallestClass === null ? "none" : `${countLabel(smallestClass)} rows` },
      { name: "rows held back", value: countLabel(rowsHeldBack) },
      { name: "rows waiting to be added", value: countLabel(rowsWaiting.added) },
      { name: "rows waiting to be deleted", value: countLabel(rowsWaiting.deleted) },
    );
  }
  if (drift !== null) {
    facts.push({ name: "centroids from the means of the own rows", value: `${drift.toFixed(1)} standard errors` });
  }
  if (shared == null) return { mode: privacy, words: whatNeighboursLearn[privacy], facts, ledger };
  facts.push(
    { name: "devices in the last sums", value: shared.devices === null ? "none" : countLabel(shared.devices) },
    { name: "rows in the last sums", value: shared.pooledRows === null ? "none" : countLabel(shared.pooledRows) },
  );
  return { mode: `${privacy}, shared clusters`, words: whatAllLearn[privacy], facts, ledger };
}

/** What a private device has released of its rows, for whoever answers for them. */
function ledgerView(status: PrivateStatus): LedgerView {
  const { epsilonSpent, epsilonLifetime, delta, releases, isOutdated, isHistoryLost, failure } = status;
  const needsPerson = isHistoryLost || isOutdated || failure !== null;
  return { epsilonSpent, epsilonLifetime, delta, releases, words: releaseSentence(status), needsPerson };
}

/** What is wrong comes before what is right. */
function releaseSentence({ stage, isOutdated, isHistoryLost, failure }: PrivateStatus): string {
  if (isHistoryLost) {
    return "The ledger is lost, so nobody knows what was released before. Nothing is sent about the rows until you consent to a new release.";
  }
  if (failure !== null) return `A release is held up: ${failure}.`;
  if (isOutdated) {
    return "The data have changed since they were released. The earlier release still counts; a new one needs your consent and costs epsilon again.";
  }
  return releaseSentences[stage ?? "nothing"] ?? releaseSentences.rounds;
}

const releaseSentences: Record<string, string> = {
  nothing: "Nothing has been released yet.",
  cells:
    "Neighbours see only what follows from counts of the rows on a grid, with noise. One more release follows when the network has come to rest.",
  means:
    "Neighbours see only what follows from the means of the clusters, with noise. These rows are not asked again and cost nothing more, however long the device runs.",
  rounds:
    "All devices see only sums over all of them, with noise. The rows are asked in a few rounds, and then never again for the same answer.",
};

function linkView(link: LinkStatus, writtenAt: number): LinkView {
  const { name, peer, isConnected, isAway, via, age, sent, received, framesRefused, rejected } = link;
  return {
    name,
    peer,
    isConnected,
    isAway,
    via,
    heardAt: age === null ? null : writtenAt - age,
    bytesSent: sent.bytes,
    bytesHeard: received.bytes,
    framesRefused: Object.values(framesRefused).reduce((sum, times) => sum + times, 0),
    rejectedShare: rejected,
    problem: link.refusal ?? link.fault ?? (isConnected ? null : link.failure),
  };
}
