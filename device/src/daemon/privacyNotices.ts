// What a person should know about guarded rows: a history that is lost or not written, and rows that wait for others.

import type { DaemonStatus } from "./status.ts";

/** In one line each; undefined: all is well. */
export function privacyNotices({ device }: Pick<DaemonStatus, "device">, folder: string) {
  const { guarded } = device;
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
