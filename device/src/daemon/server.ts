// A device's numbers over HTTP, for this machine only: /metrics in the text format of OpenMetrics 1.0, /status as JSON and
// /healthz. Centroids and data are not among them.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { refusalReasons } from "../loop/frameFilter.ts";
import type { DaemonStatus, LinkStatus } from "./status.ts";

const METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number | null | boolean];

interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "info";
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Units that a family's name may end in; the format wants them named. */
const units = ["seconds", "bytes", "ratio"];
/** What the names of samples have more than that of their family. */
const suffixes = { counter: "_total", gauge: "", info: "_info" };

export function formatMetrics(status: DaemonStatus): string {
  return [...deviceFamilies(status), ...linkFamilies(status), ...relayFamilies(status), ...programFamilies(status)]
    .flatMap(({ name, type, help, samples }) => {
      const unit = units.find((one) => name.endsWith(`_${one}`));
      return [
        `# TYPE ${name} ${type}`,
        ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
        `# HELP ${name} ${help}`,
        ...samples
          .filter(([, value]) => value !== null)
          .map(([labels, value]) => `${name}${suffixes[type]}${label(labels)} ${Number(value)}`),
      ];
    })
    .concat("# EOF", "")
    .join("\n");
}

function family(type: Family["type"]) {
  return (name: string, help: string, samples: Sample[] | Sample[1]): Family => {
    return { name: `fedkm_${name}`, type, help, samples: Array.isArray(samples) ? samples : [[{}, samples]] };
  };
}

const [counter, gauge, info] = [family("counter"), family("gauge"), family("info")];
const seconds = (date: string) => Date.parse(date) / 1000;

function deviceFamilies({ device, next, pending, notices, dataReadAt }: DaemonStatus): Family[] {
  const open = notices.filter(({ until }) => until === null);
  const { guarded, shared } = device;
  const isStale = open.some(({ cause }) => cause === "data");
  const { fresh = null, guests = null, deleted = null } = guarded?.rowsWaiting ?? {};
  const waiting = Object.entries({ fresh, guests, deleted }).map(([kind, rows]): Sample => [{ kind }, rows]);
  const named = open.map(({ cause, link }): Sample => [link === null ? { cause } : { cause, link }, 1]);
  return [
    counter("rounds", "Updates of this device.", device.round),
    gauge("settled", "1 while there is nothing to send and a neighbour counts.", device.phase === "settled"),
    gauge("alone", "1 while there is nothing to send and no neighbour counts.", device.phase === "alone"),
    gauge("paused", "1 while a person wants it to make no update.", device.phase === "paused"),
    gauge("changing", "1 while it changes to another study.", next != null),
    gauge("move_ratio", "Largest move in the last update, as a share of the range.", device.move),
    gauge("move_threshold_ratio", "A larger move is sent.", device.threshold),
    gauge("objective", "Own part of the objective.", device.objective),
    gauge("drift_standard_errors", "How far a centroid is from the mean of its own rows at most.", device.drift),
    gauge("rows", "Rows that count.", device.rows),
    gauge("rows_left_out", "Rows that do not count.", device.rowsLeftOut),
    info("privacy", "The study's mode.", [[{ mode: device.privacy }, 1]]),
    gauge("smallest_class_rows", "Rows that nothing sent tells apart, at least.", guarded?.smallestClass ?? null),
    gauge("rows_held_back", "Rows that count for another cluster than their nearest.", guarded?.rowsHeldBack ?? null),
    gauge("rows_waiting", "Rows that wait for others, to count or to count no more.", waiting),
    gauge("epsilon_spent", "What all releases of private rows cost.", device.private?.epsilonSpent ?? null),
    gauge("epsilon_lifetime", "What all releases may ever cost.", device.private?.epsilonLifetime ?? null),
    gauge("release_outdated", "1 while the data are others than those released.", device.private?.isOutdated ?? null),
    gauge("data_stale", "1 while the data files cannot be used and earlier rows are.", isStale),
    gauge("data_read_timestamp_seconds", "When the rows in use were read.", seconds(dataReadAt)),
    gauge("generation", "The number of the sums over all devices that are asked for now.", shared?.generation ?? null),
    gauge("pooled_devices", "Devices in the last complete sums.", shared?.devices ?? null),
    gauge("pooled_rows", "Rows in the last complete sums.", shared?.pooledRows ?? null),
    counter("frames_sent", "Frames sent to neighbours.", device.framesSent),
    gauge("strangers", "Peers that are not linked and tried to connect.", pending.length),
    gauge("notice", "1 for everything that a person should know now.", named),
  ];
}

function linkFamilies({ links }: DaemonStatus): Family[] {
  const each = (kind: typeof gauge) => (name: string, help: string, value: (link: LinkStatus) => Sample[1]) =>
    kind(
      name,
      help,
      links.map((link) => [{ link: link.name }, value(link)]),
    );
  const [linkGauge, linkCounter] = [each(gauge), each(counter)];
  const relayed = links.flatMap(({ name, via }): Sample[] => (via === null ? [] : [[{ link: name, via }, 1]]));
  const refused = links.flatMap(({ name, framesRefused }) =>
    Object.entries(framesRefused).map(([reason, value]): Sample => [{ link: name, reason }, value]),
  );
  // Every reason from the start: a counter that appears with its first refusal has no increase to alert on.
  const allRefused = refusalReasons.map((reason): Sample => {
    return [{ reason }, links.reduce((sum, { framesRefused }) => sum + (framesRefused[reason] ?? 0), 0)];
  });
  return [
    linkGauge("link_connected", "1 while the link stands.", (link) => link.isConnected),
    gauge("link_relayed", "1 while the link runs through another neighbour, which is named.", relayed),
    linkGauge("link_away", "1 while the neighbour counts as away.", (link) => link.isAway),
    linkGauge("link_age_seconds", "Since the neighbour was last heard.", ({ age }) => age && age / 1000),
    linkGauge(
      "link_rejected_ratio",
      "Share of the neighbour's pulls left out in the last 100 rounds.",
      (link) => link.rejected,
    ),
    linkCounter("link_sent_bytes", "Bytes of frames sent.", (link) => link.sent.bytes),
    linkCounter("link_received_bytes", "Bytes of frames received.", (link) => link.received.bytes),
    linkCounter(
      "link_replaced_frames",
      "Frames replaced by a newer one before they were sent.",
      (link) => link.replaced,
    ),
    counter("link_refused_frames", "Frames refused, by link and reason.", refused),
    counter("refused_frames", "Frames refused, by reason, of all links.", allRefused),
  ];
}

function relayFamilies({ relay }: DaemonStatus): Family[] {
  if (relay === null) return [];
  return [
    gauge("relay_reservations", "Neighbours that can be reached through this device.", relay.reservations),
    gauge("relay_circuits", "Links of others that run through this device now.", relay.circuits),
    counter("relay_bytes", "Bytes that this device has relayed, both directions.", relay.bytes),
  ];
}

function programFamilies(status: DaemonStatus): Family[] {
  const { failedWrites, programVersion, startedAt, delayMilliseconds, memoryBytes } = status;
  const failed = Object.entries(failedWrites).map(([file, value]): Sample => [{ file }, value]);
  return [
    counter("failed_writes", "Writes that failed: of the state, the status and lines of the log.", failed),
    gauge("event_delay_seconds", "What one event in a hundred had to wait.", delayMilliseconds / 1000),
    gauge("resident_memory_bytes", "Memory of the whole program.", memoryBytes),
    gauge("start_time_seconds", "When the program was started.", seconds(startedAt)),
    info("build", "The version of fedkm.", [[{ version: programVersion }, 1]]),
  ];
}

function label(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  });
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

/** Programs of this machine ask for numbers, a few of them and in one short request each. */
const REQUEST_MILLISECONDS = 5_000;
/** Of more connections on which nobody has asked yet the oldest is closed: who asks at once is always answered. */
const MOST_UNASKED = 64;

/** A connection carries so many requests: whoever sends thousands in one go is answered these. */
const MOST_REQUESTS = 16;

/** Whoever opens connections and asks nothing keeps nobody else out. */
function keepRoom(server: Server): void {
  const unasked = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unasked.add(socket);
    socket.once("close", () => unasked.delete(socket));
    const [oldest] = unasked;
    if (unasked.size > MOST_UNASKED) oldest.destroy();
  });
  server.on("request", ({ socket, headers }) => {
    // One whose body has yet to come has not asked: who opens many of those is closed like who says nothing.
    if (!("content-length" in headers || "transfer-encoding" in headers)) unasked.delete(socket);
  });
}

/** Listens on loopback, with port 0 on any that is free. Rejects where the port is taken. */
export async function serveStatus(port: number, status: () => DaemonStatus) {
  const server = createServer((request, response) => {
    const { code, type, body } = answer(request, status);
    response.writeHead(code, {
      "content-type": type,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    response.end(body);
  });
  server.requestTimeout = REQUEST_MILLISECONDS;
  server.headersTimeout = REQUEST_MILLISECONDS;
  server.maxRequestsPerSocket = MOST_REQUESTS;
  keepRoom(server);
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer({ method, url, headers, socket }: IncomingMessage, status: () => DaemonStatus) {
  const text = (code: number, body: string) => ({ code, type: "text/plain; charset=utf-8", body });
  // A web page whose name was made to point here sends its own name, and gets nothing.
  const hosts = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`];
  if (!hosts.includes(headers.host ?? "")) return text(403, `host must be one of ${hosts.join(", ")}\n`);
  if (method !== "GET") return text(405, "method must be GET\n");
  if (url === "/metrics") return { code: 200, type: METRICS_TYPE, body: formatMetrics(status()) };
  if (url === "/healthz") {
    // A neighbour's fault is no reason to call this device ill.
    const ills = status().notices.filter(({ link, until }) => link === null && until === null);
    return ills.length === 0 ? text(200, "ok\n") : text(503, ills.map((notice) => `${notice.text}\n`).join(""));
  }
  if (url === "/status") {
    // Centroids are for the owner's own files: other users of this machine can read this port.
    const body = JSON.stringify(status(), (name, value) => (name === "centroids" ? undefined : value));
    return { code: 200, type: "application/json", body: `${body}\n` };
  }
  return text(404, "path must be /metrics, /status or /healthz\n");
}
