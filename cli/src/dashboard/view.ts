// What the dashboard shows of one device, made of what the device last wrote about itself.

import { whatAllLearn, whatNeighboursLearn } from "@fedkm/device";
import type { DaemonStatus, LinkStatus } from "@fedkm/device/daemon";
import type { DeviceView, LinkView, PrivacyView } from "@fedkm/web";
import { count } from "../numbers.ts";
import { ledgerView } from "./ledger.ts";

/** What is known besides the status. */
export type Around = Pick<DeviceView, "id" | "isRunning" | "study" | "names" | "profiles" | "history" | "log">;

export function viewOf(status: DaemonStatus, around: Around): DeviceView {
  const { name, startedAt, dataReadAt, memoryBytes, device, links, pending, notices } = status;
  const { peer, phase, rows, rowsLeftOut, round, objective, move, threshold, framesSent, centroids } = device;
  return {
    ...around,
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
  // A status that an earlier version wrote has none.
  const ledger = device.private == null ? null : ledgerView(device.private);
  const facts: PrivacyView["facts"][number][] = [];
  if (guarded !== null) {
    const { smallestClass, rowsHeldBack, rowsWaiting } = guarded;
    facts.push(
      { name: "smallest class", value: smallestClass === null ? "none" : `${count(smallestClass)} rows` },
      { name: "rows held back", value: count(rowsHeldBack) },
      { name: "rows waiting to be added", value: count(rowsWaiting.added) },
      { name: "rows waiting to be deleted", value: count(rowsWaiting.deleted) },
    );
  }
  if (drift !== null) {
    facts.push({ name: "centroids from the means of the own rows", value: `${drift.toFixed(1)} standard errors` });
  }
  if (shared == null) return { mode: privacy, words: whatNeighboursLearn[privacy], facts, ledger };
  facts.push(
    { name: "devices in the last sums", value: shared.devices === null ? "none" : count(shared.devices) },
    { name: "rows in the last sums", value: shared.pooledRows === null ? "none" : count(shared.pooledRows) },
  );
  return { mode: `${privacy}, shared clusters`, words: whatAllLearn[privacy], facts, ledger };
}

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
    problem: link.refusal ?? (isConnected ? null : link.failure),
  };
}
