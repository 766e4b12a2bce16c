// One device in the words of the dashboard's page, as plain data.

import { auditLogFacts } from "../disk/auditLog.ts";
import type { PrivateStatus } from "../privacy/ledger.ts";
import { privacyWords } from "../study/promises.ts";
import type { DeviceSnapshot } from "./snapshot.ts";
import type { DaemonStatus, LinkStatus } from "./status.ts";

/** A device's folder as the dashboard shows it. */
export function deviceView({ id, status, lock, study, names, profiles, log }: DeviceSnapshot) {
  const { name, startedAt, dataReadAt, memoryBytes, device, links, pending, notices } = status;
  const writtenAt = Date.parse(status.writtenAt);
  const { peer, phase, rows, rowsLeftOut, round, objective, move, threshold, framesSent, centroids } = device;
  const { k, alpha, features } = study;
  const shown = features.map((feature) => ({ name: feature.name, unit: feature.unit, scale: feature.scale }));
  return {
    id,
    lock,
    writtenAt,
    study: { name: study.name, hash: status.studyHash, k, alpha, features: shown },
    names,
    profiles,
    history: status.trend.map(([at, objective, move]) => ({ at, objective, move })),
    log: log.map((line) => ({ at: line.at, text: [line.event, ...auditLogFacts(line)].join(", ") })),
    name,
    peer,
    phase,
    startedAt,
    dataReadAt,
    privacy: privacyView(device, status.linkRemarks),
    rows,
    rowsLeftOut,
    round,
    objective,
    move,
    threshold,
    framesSent,
    memoryBytes,
    clusters: centroids,
    links: links.map((link) => linkView(link, writtenAt)),
    pending: pending.filter((stranger) => links.every((link) => link.peer !== stranger.peer)),
    notices,
  };
}

const countLabel = (value: number) => value.toLocaleString("en");

function privacyView(device: DaemonStatus["device"], remarks: readonly string[] = []) {
  const { privacy, guarded, drift, shared } = device;
  const ledger = device.private == null ? null : ledgerView(device.private, shared != null);
  const facts = remarks.map((value) => ({ name: "links", value }));
  if (guarded !== null) {
    const { smallestClass, rowsHeldBack, rowsWaiting } = guarded;
    facts.push(
      { name: "smallest class", value: smallestClass === null ? "none" : `${countLabel(smallestClass)} rows` },
      { name: "rows held back", value: countLabel(rowsHeldBack) },
      { name: "new rows that wait", value: countLabel(rowsWaiting.fresh) },
      { name: "rows that wait to count again", value: countLabel(rowsWaiting.guests) },
      { name: "deleted rows that count", value: countLabel(rowsWaiting.deleted) },
    );
  }
  if (drift !== null) {
    facts.push({ name: "centroids from the means of the own rows", value: `${drift.toFixed(1)} standard errors` });
  }
  const protects = device.private?.protects;
  if (shared == null) return { mode: privacy, words: privacyWords({ privacy, protects }), facts, ledger };
  facts.push(
    { name: "devices in the last sums", value: shared.devices === null ? "none" : countLabel(shared.devices) },
    {
      name: `${protects ?? "rows"} in the last sums`,
      value: shared.pooledRows === null ? "none" : countLabel(shared.pooledRows),
    },
  );
  return {
    mode: `${privacy}, shared clusters`,
    words: privacyWords({ privacy, clusters: "shared", protects }),
    facts,
    ledger,
  };
}

/** What a private device has released of its rows, for whoever answers for them. */
function ledgerView(status: PrivateStatus, isShared: boolean) {
  const { epsilonSpent, epsilonLifetime, delta, releases, isOutdated, isHistoryLost, failure } = status;
  const needsPerson = isHistoryLost || isOutdated || failure !== null;
  return { epsilonSpent, epsilonLifetime, delta, releases, words: releaseSentence(status, isShared), needsPerson };
}

/** What is wrong comes before what is right. */
function releaseSentence({ stage, isOutdated, isHistoryLost, failure }: PrivateStatus, isShared: boolean): string {
  if (isHistoryLost) {
    return "The ledger is lost, or of a study that protected something else, so nobody knows what was released before. Nothing is sent about the rows until you consent to a new release.";
  }
  if (failure !== null) return `A release is held up: ${failure}.`;
  if (isOutdated) {
    return "The data have changed since they were released. The earlier release still counts; a new one needs your consent and costs epsilon again.";
  }
  return releaseSentences[stage ?? "nothing"] ?? releaseSentences[isShared ? "rounds" : "means"];
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

function linkView(link: LinkStatus, writtenAt: number) {
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
