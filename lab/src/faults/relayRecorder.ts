// The program of a device that keeps every byte which it relays, in a file; otherwise it is a device like any other.

import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startDaemon } from "@fedkm/device/daemon";

const { values } = parseArgs({
  options: { state: { type: "string", default: "" }, record: { type: "string", default: "" } },
});

const line = (fields: object, msg: string) => process.stderr.write(`${JSON.stringify({ ...fields, msg })}\n`);
const daemon = await startDaemon({
  folder: values.state,
  log: { info: line, warn: line },
  host: {
    version: "lab",
    pid: process.pid,
    env: process.env,
    memoryBytes: () => process.memoryUsage.rss(),
    cpuMicroseconds: () => process.cpuUsage().user + process.cpuUsage().system,
    logFailure: () => undefined,
    linesLost: () => 0,
  },
  onRelayed: (bytes) => appendFileSync(values.record, bytes),
});
process.channel?.unref();
process.once("SIGTERM", async () => {
  await daemon.stop();
  process.exit();
});
