// The live table of a network: one line for each device, painted over the last.

import type { DaemonStatus } from "@fedkm/device/daemon";
import { bold } from "../../console.ts";
import { count, duration, significant } from "../../numbers.ts";
import { alignColumns } from "../../table.ts";

const heading = ["device", "state", "peers", "round", "move", "objective", "oldest", "sent", "bytes"];

export function networkTable(statuses: readonly (DaemonStatus | undefined)[], styled: boolean): string[] {
  const rows = statuses.map((status, index) => (status === undefined ? silent(index) : deviceRow(status)));
  const parts = statuses.flatMap((status) => status?.device.objective ?? []);
  const total = parts.reduce((sum, part) => sum + part, 0);
  const settled = statuses.filter((status) => ["settled", "alone"].includes(status?.device.phase ?? "")).length;
  return [
    ...alignColumns([heading, ...rows], (text, row) => bold(text, styled && row === 0)),
    // Devices with shared clusters do not know theirs.
    `${settled} of ${statuses.length} settled${parts.length === 0 ? "" : `, objective ${significant(total, 6)}`}`,
  ];
}

function silent(index: number): string[] {
  return [String(index + 1), "starting", ...heading.slice(2).map(() => "")];
}

function deviceRow({ name, device, links }: DaemonStatus): string[] {
  const { phase, round, move, objective, framesSent } = device;
  const ages = links.map(({ age }) => age);
  const oldest = ages.some((age) => age === null) ? "never" : duration(Math.max(0, ...ages.map(Number)));
  return [
    name,
    phase,
    `${links.filter(({ isConnected }) => isConnected).length}/${links.length}`,
    count(round),
    move === null ? "" : significant(move, 2),
    objective === null ? "" : significant(objective, 5),
    links.length === 0 ? "" : oldest,
    count(framesSent),
    count(links.reduce((sum, { sent }) => sum + sent.bytes, 0)),
  ];
}
