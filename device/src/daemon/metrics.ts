// A device's numbers in the text format of Prometheus. Centroids and data are not among them.

import type { DaemonStatus } from "./status.ts";

interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number | null | boolean])[];
}

export function formatMetrics(status: DaemonStatus): string {
  return families(status)
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples
        .filter(([, value]) => value !== null)
        .map(([labels, value]) => `${name}${label(labels)} ${Number(value)}`),
    ])
    .concat("")
    .join("\n");
}

function families({ device, links, pending, memoryBytes, delayMilliseconds }: DaemonStatus): Family[] {
  const one = (value: number | null | boolean): Family["samples"] => [[{}, value]];
  const each = (value: (link: DaemonStatus["links"][number]) => number | null | boolean): Family["samples"] =>
    links.map((link) => [{ link: link.name }, value(link)] as const);
  const refused = links.flatMap(({ name, framesRefused }) =>
    Object.entries(framesRefused).map(([reason, count]) => [{ link: name, reason }, count] as const),
  );
  const gauge = (name: string, help: string, samples: Family["samples"]): Family => ({
    name: `fedkm_${name}`,
    type: "gauge",
    help,
    samples,
  });
  const counter = (name: string, help: string, samples: Family["samples"]): Family => ({
    name: `fedkm_${name}_total`,
    type: "counter",
    help,
    samples,
  });
  return [
    counter("rounds", "Updates of this device.", one(device.round)),
    gauge("settled", "1 while there is nothing to send.", one(device.phase === "settled")),
    gauge("move", "Largest move in the last update, as a share of the range.", one(device.move)),
    gauge("move_threshold", "A larger move is sent.", one(device.threshold)),
    gauge("objective", "Own part of the objective.", one(device.objective)),
    gauge("rows", "Rows that count.", one(device.rows)),
    gauge("rows_left_out", "Rows that do not count.", one(device.rowsLeftOut)),
    counter("frames_sent", "Frames sent to neighbours.", one(device.framesSent)),
    gauge("strangers", "Peers that are not linked and tried to connect.", one(pending.length)),
    gauge(
      "link_connected",
      "1 while the link stands.",
      each((link) => link.isConnected),
    ),
    gauge(
      "link_away",
      "1 while the neighbour counts as away.",
      each((link) => link.isAway),
    ),
    gauge(
      "link_age_seconds",
      "Since the neighbour was last heard.",
      each(({ age }) => (age === null ? null : age / 1000)),
    ),
    counter(
      "link_sent_bytes",
      "Bytes of frames sent.",
      each(({ sent }) => sent.bytes),
    ),
    counter(
      "link_received_bytes",
      "Bytes of frames received.",
      each(({ received }) => received.bytes),
    ),
    counter(
      "link_replaced_frames",
      "Frames replaced by a newer one before they were sent.",
      each((link) => link.replaced),
    ),
    counter("link_refused_frames", "Frames refused, by reason.", refused),
    gauge("event_delay_seconds", "What one event in a hundred had to wait.", one(delayMilliseconds / 1000)),
    gauge("resident_memory_bytes", "Memory of the whole program.", one(memoryBytes)),
  ];
}

function label(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, "\\$&")}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}
