// What a person should know about guarded and private rows: a history that is lost or not written, and rows that wait.

import type { PrivateStatus } from "../private/account.ts";
import type { DaemonStatus } from "./status.ts";

/** In one line each; undefined: all is well. */
export function privacyNotices({ device }: Pick<DaemonStatus, "device">, folder: string) {
  const { guarded } = device;
  if (device.private !== null) return releaseNotices(device.private, folder);
  if (guarded === null) return { history: undefined, waiting: undefined };
  const { isHistoryLost, failure, rowsWaiting } = guarded;
  const { added, deleted } = rowsWaiting;
  const command = `fedkm device consent --state ${folder}`;
  const lost = `what this device has published of its rows is not known, so nothing of them is sent until you consent: ${command}`;
  const unwritten = failure === null ? undefined : `the history is not written, and nothing new is sent: ${failure}`;
  const waiting = [
    ...(added > 0 ? [`${added} rows of the data do not count yet`] : []),
    ...(deleted > 0 ? [`${deleted} rows that are not among the data any more still count`] : []),
  ];
  return {
    history: isHistoryLost ? lost : unwritten,
    waiting: waiting.length > 0 ? `${waiting.join(", and ")}: rows come and go in groups` : undefined,
  };
}

function releaseNotices({ isHistoryLost, isOutdated, failure }: PrivateStatus, folder: string) {
  const command = `fedkm device consent --state ${folder}`;
  const lost = `what was released of this device's rows is not known, so nothing of them is until you consent: ${command}`;
  return {
    history: isHistoryLost ? lost : (failure ?? undefined),
    waiting: isOutdated
      ? `the data are others than those that were released, which still count; a release of these costs epsilon again: ${command}`
      : undefined,
  };
}
