// fedkm device status: how a device is doing, for a person or a machine.

import type { DaemonStatus, LinkStatus } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { lastStatus } from "../../devices/state.ts";
import { count, duration, significant } from "../../numbers.ts";
import { alignColumns } from "../../table.ts";

export async function showStatus(
  { state, json }: { state: string; json?: boolean },
  { stdout }: Console,
): Promise<void> {
  const status = lastStatus(state);
  if (status === undefined)
    throw new Error(`${state} must be the folder of a device that has run, got no status in it`);
  stdout.write(json ? `${JSON.stringify(status, undefined, 2)}\n` : `${describe(status).join("\n")}\n`);
}

function describe({ name, isRunning, pid, writtenAt, device, links, pending, notice }: DaemonStatus): string[] {
  const { phase, round, move, threshold, objective, rows, rowsLeftOut, framesSent } = device;
  const state = isRunning ? `running as process ${pid}` : `not running (last seen ${writtenAt})`;
  const heading = ["link", "state", "heard", "frames in", "bytes in", "frames out", "bytes out"];
  return [
    `${name}: ${state}, ${phase}`,
    `round ${count(round)}, last move ${move === null ? "none" : significant(move, 2)} of the range ` +
      `(sent above ${significant(threshold, 2)}), objective part ${objective === null ? "none" : significant(objective, 4)}`,
    `${count(rows)} rows (${count(rowsLeftOut)} left out), ${count(framesSent)} frames sent`,
    "",
    ...(links.length > 0 ? alignColumns([heading, ...links.map(linkRow)]) : ["no links"]),
    ...links.flatMap(whyNot),
    ...(pending.length > 0
      ? ["", `${pending.length} linked this device and wait to be linked back: see fedkm device accept`]
      : []),
    ...(notice === null ? [] : ["", `notice: ${notice}`]),
  ];
}

/** Why a neighbour is sent nothing or cannot be reached. */
function whyNot({ name, refusal, isConnected, failure }: LinkStatus): string[] {
  const reason = refusal ?? (isConnected ? null : failure);
  return reason === null ? [] : [`${name}: ${reason.split("\n")[0].slice(0, 200)}`];
}

function linkRow({ name, isConnected, isAway, age, refusal, received, sent }: LinkStatus): string[] {
  const state = refusal !== null ? "refused" : isAway ? "away" : isConnected ? "connected" : "down";
  const heard = age === null ? "never" : `${duration(age)} ago`;
  return [name, state, heard, count(received.frames), count(received.bytes), count(sent.frames), count(sent.bytes)];
}
