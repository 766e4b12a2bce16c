// What a private device has released of its rows, in words for whoever answers for them.

import type { PrivateStatus } from "@fedkm/device";
import type { LedgerView } from "@fedkm/web";

export function ledgerView(status: PrivateStatus): LedgerView {
  const { epsilonSpent, epsilonLifetime, delta, releases, isOutdated, isHistoryLost, failure } = status;
  const needsPerson = isHistoryLost || isOutdated || failure !== null;
  return { epsilonSpent, epsilonLifetime, delta, releases, words: wordsOf(status), needsPerson };
}

/** What is wrong comes before what is right. */
function wordsOf({ stage, isOutdated, isHistoryLost, failure }: PrivateStatus): string {
  if (isHistoryLost) {
    return "The ledger is lost, so nobody knows what was released before. Nothing is sent about the rows until you consent to a new release.";
  }
  if (failure !== null) return `A release is held up: ${failure}.`;
  if (isOutdated) {
    return "The data have changed since they were released. The earlier release still counts; a new one needs your consent and costs epsilon again.";
  }
  return released[stage ?? "nothing"];
}

const released = {
  nothing: "Nothing has been released yet.",
  cells:
    "Neighbours see only what follows from counts of the rows on a grid, with noise. One more release follows when the network has come to rest.",
  means:
    "Neighbours see only what follows from the means of the clusters, with noise. These rows are not asked again and cost nothing more, however long the device runs.",
};
