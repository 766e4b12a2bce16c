// fedkm device run: one device as a program of its own until it is stopped.

import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { version } from "../../package.ts";
import { type StopEvent, stoppable, untilStopped } from "../../stop.ts";

export interface RunOptions {
  readonly state: string;
  readonly metrics?: number;
  readonly log: string;
  readonly mdns?: boolean;
  readonly dashboard?: number;
  /** Where every frame is recorded. */
  readonly record?: string;
}

/** Of pino. */
const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

export async function runDeviceRunCommand(options: RunOptions, { stderr }: Console): Promise<void> {
  const { log: level } = options;
  if (!levels.includes(level)) throw new UsageError(`--log must be one of ${levels.join(", ")}, got "${level}"`);
  // Without a terminal (nohup, a service) there is none to lose. Node forgets that nohup asked to ignore the signal.
  const isDetached = ![0, 1, 2].some((stream) => isatty(stream));
  await stoppable((signal) => runUntilStopped(options, stderr, signal), isDetached ? () => undefined : undefined);
}

async function serveDashboardOf(state: string, port: number) {
  const [{ openDashboard }, { dashboardSource }] = await Promise.all([
    import("@fedkm/web/server"),
    import("../../deviceFolders.ts"),
  ]);
  return openDashboard(state, dashboardSource([state]), port);
}

async function runUntilStopped(
  { state, metrics, log: level, mdns = false, dashboard: dashboardPort, record }: RunOptions,
  stderr: Console["stderr"],
  signal: AbortSignal,
): Promise<void> {
  // Listening for its end would keep the channel of `fedkm up` open, and with it a device that could not start.
  process.channel?.unref();
  // A device makes little garbage; left alone, the heap for young objects takes 13 MB more than it needs. It must be
  // said before the heap has grown, so the rest of the program is loaded after it.
  setFlagsFromString("--max-semi-space-size=1");
  setFlagsFromString("--semi-space-growth-factor=1");
  // A flood is garbage soon. Left alone, the heap grows to four times what lives in it before that is looked for.
  setFlagsFromString("--heap-growing-percent=40");
  const [{ logOutput, startDaemon }, { pino }] = await Promise.all([import("@fedkm/device/daemon"), import("pino")]);
  const output = logOutput(stderr);
  const formatters = { level: (label: string) => ({ level: label }) };
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, output);
  // What a library lost on the way is no reason to lose the device; what it threw outright is.
  process.on("unhandledRejection", (reason) => log.warn({ reason: String(reason) }, "a promise was not kept"));
  const host = {
    version: version(),
    pid: process.pid,
    env: process.env,
    memoryBytes: () => process.memoryUsage.rss(),
    cpuMicroseconds: () => process.cpuUsage().user + process.cpuUsage().system,
    logFailure: output.failure,
    linesLost: output.lost,
  };
  const extras = {
    ...(metrics !== undefined && { metricsPort: metrics }),
    ...(record !== undefined && { record }),
  };
  const dashboard = dashboardPort === undefined ? undefined : await serveDashboardOf(state, dashboardPort);
  if (dashboard !== undefined) {
    log.info({ dashboard: dashboard.port }, "serving a dashboard: see fedkm device dashboard");
  }
  const stopped = untilStopped(signal);
  let event: StopEvent | undefined;
  try {
    // A new key makes it another device to its neighbours, and a new guarded study begins with rows that count at once:
    // it starts again, as if it had been stopped in between.
    while (event === undefined) {
      const daemon = await startDaemon({ folder: state, log, isDiscoverable: mdns, host, ...extras });
      event = (await Promise.race([stopped, daemon.restart]))?.event;
      log.info({ reason: event ?? "a new key or study" }, "stopping");
      await daemon.stop();
    }
  } finally {
    dashboard?.close();
  }
  // Node would restore a terminal that is gone, and abort with a core dump.
  if (event === "SIGHUP") process.kill(process.pid, event);
}
