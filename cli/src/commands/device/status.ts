// fedkm device status: how a device is doing, for a person or a machine, once or again and again.

import { setTimeout as pause } from "node:timers/promises";
import type { PrivateStatus } from "@fedkm/device";
import {
  type DaemonStatus,
  evidenceNow,
  type Health,
  healthOf,
  type LinkStatus,
  type LockAnswer,
  lastStatus,
  type Notice,
  privacyWords,
} from "@fedkm/device/light";
import { printable } from "@fedkm/files/printable";
import { alignColumns, duration } from "@fedkm/pictures/terminal";
import { counted, countLabel, significantLabel } from "@fedkm/tables/numbers";
import { type Console, printAnswer } from "../../console.ts";
import { NotRunning, SomethingWrong } from "../../failure.ts";
import { repaintProgressLines } from "../../progress.ts";
import { stoppable } from "../../stop.ts";

export interface StatusOptions {
  readonly state: string;
  readonly json?: boolean;
  readonly watch?: boolean;
}

type RunStatus = DaemonStatus & {
  readonly isRunning: boolean;
  readonly lock: LockAnswer | undefined;
  readonly health: Health;
};

const LOOK_EVERY_MILLISECONDS = 1_000;
/** Of notices that are over, so many are shown. */
const MOST_OVER = 5;

export async function runDeviceStatusCommand(options: StatusOptions, io: Console): Promise<void> {
  if (options.watch === true) return stoppable((signal) => watchStatus(options, io, signal));
  const status = await statusOf(options.state);
  printAnswer(io, options.json, status, () => describe(status));
  const { alarm } = status.health.headline;
  if (!status.isRunning) throw new NotRunning(alarm);
  if (status.health.isAlarm) throw new SomethingWrong(alarm);
}

/** A line of JSON every second for a machine, or the same lines painted over for a person. */
async function watchStatus({ state, json }: StatusOptions, { stdout }: Console, signal: AbortSignal): Promise<void> {
  for (let painted = 0; !signal.aborted; ) {
    const status = await statusOf(state);
    if (json) stdout.write(`${JSON.stringify(status)}\n`);
    else painted = repaintProgressLines(stdout, describe(status), painted);
    await pause(LOOK_EVERY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
}

async function statusOf(state: string): Promise<RunStatus> {
  const status = lastStatus(state);
  if (status === undefined)
    throw new Error(`${state} must be the folder of a device that has run, got one without a status`);
  const evidence = await evidenceNow(state, status);
  const { lock } = evidence;
  return { isRunning: lock === "answers", lock, health: healthOf([evidence], Date.now()), ...status };
}

/** The headline, then what is wrong with its evidence and what to do, the worst first. */
function healthLines({ headline, findings }: Health): string[] {
  const ageOf = (since: number | null) => (since === null ? "" : `, for ${duration(Math.max(0, Date.now() - since))}`);
  return [
    `${headline.alarm}${headline.rest}${ageOf(headline.since)}`,
    ...findings.map(({ what, why, action, since }) => `  ${what}${ageOf(since)}: ${why} ${action}`),
  ];
}

function describe(status: RunStatus): string[] {
  const { name, device, links, pending, relay, notices, startedAt, programVersion } = status;
  const { phase, rows, rowsLeftOut, drift, framesSent, shared } = device;
  const heading = ["link", "state", "heard", "left out", "frames in", "refused", "bytes in", "frames out", "bytes out"];
  const lines = [
    ...healthLines(status.health),
    `${name}: ${runState(status)}, ${phase}`,
    `fedkm ${programVersion}, started ${startedAt}`,
    ...(shared == null ? [roundLine(device)] : []),
    `${countLabel(rows)} rows (${countLabel(rowsLeftOut)} left out), ${countLabel(framesSent)} frames sent`,
    ...sharedLines(device),
    ...describeNext(status),
    ...(relay ? [relayLine(relay)] : []),
    ...privacyLines(device),
    ...(drift === null ? [] : [`centroids at most ${drift.toFixed(1)} standard errors from the means of its own rows`]),
    "",
    ...(links.length > 0 ? alignColumns([heading, ...links.map((link) => linkRow(link, status))]) : ["no links"]),
    ...links.flatMap(remarks),
    ...status.linkRemarks,
    ...(pending.length > 0
      ? [
          "",
          `${counted(pending.length, "device")} linked this one and ${pending.length === 1 ? "waits" : "wait"} to be linked back: see fedkm device accept`,
        ]
      : []),
    ...describeNotices(notices),
  ];
  return lines.map(printable);
}

function roundLine({ round, move, threshold, objective }: RunStatus["device"]): string {
  const last = move === null ? "none" : significantLabel(move, 2);
  const part = objective === null ? "none" : significantLabel(objective, 4);
  return `round ${countLabel(round)}, last move ${last} of the range (sent above ${significantLabel(threshold, 2)}), objective part ${part}`;
}

/** How the sums over all devices are doing, where clusters are shared. */
function sharedLines({ shared }: RunStatus["device"]): string[] {
  if (shared == null) return [];
  const { generation, stage, devices, pooledRows, countedLinks, waiting, tellings, members } = shared;
  const sums =
    devices === null
      ? "no sums yet"
      : `last sums over ${countLabel(devices)} devices and ${countLabel(pooledRows ?? 0)} rows`;
  return [
    `shared clusters: generation ${countLabel(generation)} (${stage}), ${sums}, ${countLabel(countedLinks)} links count, sent ${countLabel(tellings)} times`,
    members === null ? "membership: links, so that whoever is linked takes part" : `membership: ${members} members`,
    ...(waiting === null ? [] : [`this device ${waiting}`]),
  ];
}

/** The study that it is changing to; its old one is above. */
function describeNext({ next }: RunStatus): string[] {
  if (next == null) return [];
  const { study, phase, objective, centroids } = next.device;
  const part = objective === null ? "none" : significantLabel(objective, 4);
  const what = `${phase}, ${countLabel(centroids?.length ?? 0)} clusters, objective part ${part}`;
  return [`changing to study ${study} (${next.studyHash.slice(0, 8)}): ${what}; see fedkm device study`];
}

function relayLine({ reservations, circuits, bytes }: NonNullable<DaemonStatus["relay"]>): string {
  return `relays to ${countLabel(reservations)} of its neighbours: ${countLabel(circuits)} circuits now, ${countLabel(bytes)} bytes so far`;
}

function privacyLines({ privacy, guarded, private: released, shared }: RunStatus["device"]): string[] {
  const clusters = shared == null ? "personal" : "shared";
  const mode = `${privacy}: ${privacyWords({ privacy, clusters, protects: released?.protects })}`;
  if (released != null) return [mode, releaseLine(released, shared != null)];
  if (guarded === null) return [mode];
  const { smallestClass, rowsHeldBack, rowsWaiting } = guarded;
  const { fresh, guests, deleted } = rowsWaiting;
  return [
    mode,
    `smallest class ${smallestClass === null ? "none" : `${countLabel(smallestClass)} rows`}, ${countLabel(rowsHeldBack)} rows held back, ` +
      `${countLabel(fresh)} new rows wait, ${countLabel(guests)} wait to count again, ${countLabel(deleted)} deleted rows count`,
  ];
}

function releaseLine(released: PrivateStatus, isShared: boolean): string {
  const { releases, epsilonSpent, epsilonLifetime, delta, stage } = released;
  const used: Record<string, string> = {
    cells: "the counts of a grid are used",
    means: "the means of its clusters are used",
  };
  const what =
    stage === null
      ? "nothing is released yet"
      : (used[stage] ?? (isShared ? `the last was ${stage} of the sums` : used.means));
  const spent = `epsilon ${significantLabel(epsilonSpent, 3)} of ${significantLabel(epsilonLifetime, 3)} spent at delta ${delta}`;
  return `${countLabel(releases)} releases, ${spent}; ${what}`;
}

function runState({ lock, pid, writtenAt }: RunStatus): string {
  const states = {
    answers: `running as process ${pid}`,
    silent: `process ${pid} does not answer`,
    free: "not running",
  };
  const age = duration(Math.max(0, Date.now() - Date.parse(writtenAt)));
  return `${states[lock ?? "free"]}, status of ${age} ago`;
}

function describeNotices(notices: readonly Notice[]): string[] {
  const over = notices.filter(({ until }) => until !== null).slice(0, MOST_OVER);
  const lines = over.map(({ since, until, text }) => `over, from ${since} to ${until}: ${text}`);
  return lines.length > 0 ? ["", ...lines] : [];
}

/** Why a neighbour is sent nothing, cannot be reached, or was not heard. */
function remarks({ name, refusal, isConnected, failure, framesRefused }: LinkStatus): string[] {
  const reason = refusal ?? (isConnected ? null : failure);
  const refused = Object.entries(framesRefused).map(([why, times]) => `${countLabel(times)} ${why}`);
  return [
    ...(reason === null ? [] : [`${name}: ${reason.split("\n")[0].slice(0, 200)}`]),
    ...(refused.length === 0 ? [] : [`${name}: frames refused by reason: ${refused.join(", ")}`]),
  ];
}

function linkRow(link: LinkStatus, { isRunning, writtenAt }: RunStatus): string[] {
  const { name, via, isConnected, isAway, age, rejected, refusal, received, sent, framesRefused } = link;
  const connected = via ? `via ${via}` : "connected";
  const state = refusal !== null ? "refused" : isAway ? "away" : isConnected ? connected : "down";
  const heard = age === null ? "never" : `${duration(Math.max(0, age + Date.now() - Date.parse(writtenAt)))} ago`;
  const refused = Object.values(framesRefused).reduce((sum, times) => sum + times, 0);
  const numbers = [received.frames, refused, received.bytes, sent.frames, sent.bytes];
  const leftOut = rejected === null ? "" : `${Math.round(100 * rejected)} %`;
  return [name, isRunning ? state : `was ${state}`, heard, leftOut, ...numbers.map((number) => countLabel(number))];
}
