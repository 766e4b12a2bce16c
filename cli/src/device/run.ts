// fedkm device run: one device as a program of its own, until it is told to stop.

import { startDaemon } from "@fedkm/device/daemon";
import { pino } from "pino";
import type { Console } from "../console.ts";
import { UsageError } from "../failure.ts";
import { untilStopped } from "../stop.ts";

export interface RunOptions {
  readonly state: string;
  readonly metrics?: number;
  readonly log: string;
}

export async function runDevice({ state, metrics, log: level }: RunOptions, { stderr }: Console): Promise<void> {
  const levels = [...Object.values(pino.levels.labels), "silent"];
  if (!levels.includes(level)) throw new UsageError(`--log must be one of ${levels.join(", ")}, got "${level}"`);
  const stopped = untilStopped();
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stderr);
  const daemon = await startDaemon({
    folder: state,
    log,
    surroundings: { pid: process.pid, memoryBytes: () => process.memoryUsage.rss() },
    ...(metrics === undefined ? {} : { metricsPort: metrics }),
  });
  log.info({ reason: await stopped }, "stopping");
  await daemon.stop();
}
