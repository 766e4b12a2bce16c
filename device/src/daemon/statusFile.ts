// The status file of a running device: written whole, when there is news and once more at the end.

import { rename, writeFile } from "node:fs/promises";
import type { Clock } from "../environment.ts";
import { STATUS_LOOK_MILLISECONDS, STATUS_MILLISECONDS } from "../pace.ts";
import { reasonOf } from "../reason.ts";
import { statusNews } from "./news.ts";
import type { DaemonStatus } from "./status.ts";

/** `onWrite` learns of every write whether it failed, and why. Returns how to stop, after the last status is written. */
export function reportStatus(
  file: string,
  clock: Clock,
  status: () => DaemonStatus,
  onWrite: (failure: string | undefined) => void,
): () => Promise<void> {
  let isStopped = false;
  let hasFailed = false;
  let cancel = () => {};
  let writing: Promise<void> = Promise.resolve();
  const isNews = statusNews(clock);
  const write = async () => {
    let wait = STATUS_LOOK_MILLISECONDS;
    try {
      const now = status();
      if (isNews(now) || isStopped || hasFailed) {
        wait = STATUS_MILLISECONDS;
        await writeStatus(file, now);
        hasFailed = false;
        onWrite(undefined);
      }
    } catch (error) {
      hasFailed = true;
      onWrite(reasonOf(error));
    }
    if (!isStopped) cancel = clock.after(wait, next);
  };
  const next = () => {
    writing = write();
  };
  next();
  return async () => {
    isStopped = true;
    cancel();
    await writing;
    await write();
  };
}

/** Not synced to the disk: after a crash the next start writes a new one. */
async function writeStatus(file: string, status: DaemonStatus): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(status)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
