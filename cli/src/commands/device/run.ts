// fedkm device run: one device as a program of its own, until it is stopped.

import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import type { Console } from "../../console.ts";
import { logOutput } from "../../devices/log.ts";
import { UsageError } from "../../failure.ts";
import { stoppable, untilStopped } from "../../stop.ts";
import { version } from "../../version.ts";

export interface RunOptions {
  readonly state: string;
  readonly metrics?: number;
  readonly log: string;
  readonly mdns?: boolean;
  /** Where every frame is recorded. */
  readonly record?: string;
}

/** Of pino. */
const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

export async function runDevice(options: RunOptions, { stderr }: Console): Promise<void> {
  const { log: level } = options;
  if (!levels.includes(level)) throw new UsageError(`--log must be one of ${levels.join(", ")}, got "${level}"`);
  // Without a terminal (nohup, a service) there is none to lose. Node forgets that nohup asked to ignore the signal.
  const isDetached = ![0, 1, 2].some((stream) => isatty(stream));
  await stoppable((signal) => runUntilStopped(options, stderr, signal), isDetached ? () => undefined : undefined);
}

async function runUntilStopped(
  { state, metrics, log: level, mdns = false, record }: RunOptions,
  stderr: Console["stderr"],
  signal: AbortSignal,
): Promise<void> {
  // Listening for its end would keep the channel of `fedkm up` open, and with it a device that could not start.
  process.channel?.unref();
  // A device makes little garbage; left alone, the heap for young objects takes 13 MB more than it needs. It must be
  // said before the heap has grown, so the rest of the program is loaded after it.
  setFlagsFromString("--max-semi-space-size=1");
  setFlagsFromString("--semi-space-growth-factor=1");
  const [{ startDaemon }, { pino }] = await Promise.all([import("@fedkm/device/daemon"), import("pino")]);
  const output = logOutput(stderr);
  const formatters = { level: (label: string) => ({ level: label }) };
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, output);
  // What a library lost on the way is no reason to lose the device; what it threw outright is.
  process.on("unhandledRejection", (reason) => log.warn({ reason: String(reason) }, "a promise was not kept"));
  const daemon = await startDaemon({
    folder: state,
    log,
    isDiscoverable: mdns,
    surroundings: {
      version: version(),
      pid: process.pid,
      memoryBytes: () => process.memoryUsage.rss(),
      logFailure: output.failure,
      linesLost: output.lost,
    },
    ...(metrics === undefined ? {} : { metricsPort: metrics }),
    ...(record === undefined ? {} : { record }),
  });
  const { event } = await untilStopped(signal);
  log.info({ reason: event }, "stopping");
  await daemon.stop();
  // Node would restore a terminal that is gone, and abort with a core dump.
  if (event === "SIGHUP") process.kill(process.pid, event);
}
