// The audit log of a running device: what is noted is written soon and in order, and a full disk is a notice.

import { type AuditEntry, type AuditEvent, type AuditFields, appendAudit, readAudit } from "../disk/auditLog.ts";
import { type Clock, type PeerNetwork, reasonOf } from "../environment.ts";
import { frameKindName, frameLane, frameStudyHash, studyId } from "../wire/frames.ts";
import type { DaemonStatus } from "./status.ts";

/** While nothing can be written, so many events wait. Of more the oldest are lost, and counted. */
const MOST_WAITING = 1_000;
const RETRY_MILLISECONDS = 10_000;

export type AuditKeeper = ReturnType<typeof auditKeeper>;

/** Looks at what is written already: a chain that is broken stays a notice for as long as the device runs. */
export function auditKeeper(folder: string, clock: Clock, tell: (line: string | undefined) => void) {
  let fault: string | undefined;
  const warn = (line: string | undefined) => tell(line ?? fault);
  void brokenChain(folder).then((found) => {
    fault = found;
    if (found !== undefined) tell(found);
  });
  let waiting: AuditEntry[] = [];
  let lost = 0;
  let writing: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  const write = async () => {
    cancel?.();
    cancel = undefined;
    const entries = waiting;
    const missing = lost;
    waiting = [];
    lost = 0;
    try {
      const gap: AuditEntry[] = missing > 0 ? [{ at: new Date(), event: "lost", fields: { count: missing } }] : [];
      await appendAudit(folder, [...gap, ...entries]);
      warn(undefined);
    } catch (error) {
      const all = [...entries, ...waiting];
      waiting = all.slice(-MOST_WAITING);
      lost += missing + all.length - waiting.length;
      warn(`the audit log is not written, ${waiting.length} events wait: ${reasonOf(error)}`);
      cancel = clock.after(RETRY_MILLISECONDS, start);
    }
  };
  const start = () => {
    if (writing !== undefined) return;
    writing = write().then(() => {
      writing = undefined;
      // Noted while the write was under way. After a failure the next attempt waits.
      if (waiting.length > 0 && cancel === undefined) start();
    });
  };
  return {
    note(event: AuditEvent, fields: AuditFields) {
      waiting.push({ at: new Date(), event, fields });
      if (cancel === undefined) start();
    },
    isWriting: () => writing !== undefined,
    /** After an attempt to write everything that was noted until then. */
    async attempted() {
      while (writing !== undefined) await writing;
    },
    /** Writes what waits, if it can be written. */
    async close() {
      while (writing !== undefined) await writing;
      if (waiting.length > 0) await write();
      cancel?.();
    },
  };
}

/** Undefined: the chain is whole, or cannot be read, which the next write will say. */
async function brokenChain(folder: string): Promise<string | undefined> {
  const broken = await readAudit(folder).then(
    (report) => report.broken,
    () => undefined,
  );
  if (broken === undefined) return undefined;
  return `${broken.file} was changed before its line ${broken.line}: see fedkm device log --state ${folder}`;
}

/** What left a device, by study, kind and receiver; what its rows added, by study and stage. */
interface Departure {
  readonly event: "sent" | "added";
  readonly fields: AuditFields;
  /** Since the last line about it. */
  counts: { times: number; size: number };
  notedAt: number;
}

/**
 * Writes down what leaves a device: the first of its kind before it is sent, and how much there was of it once an hour and at
 * the end. `linkOf`: what the owner calls a neighbour.
 */
export function departureKeeper(audit: AuditKeeper, clock: Clock, linkOf: (peer: string) => string) {
  const known = new Map<string, Departure>();
  const write = (departure: Departure) => {
    const { event, fields, counts } = departure;
    const [times, size] = event === "sent" ? ["frames", "bytes"] : ["times", "integers"];
    audit.note(event, { ...fields, [times]: counts.times, [size]: counts.size });
    departure.counts = { times: 0, size: 0 };
    departure.notedAt = clock.now();
  };
  const note = (event: Departure["event"], fields: AuditFields, size: number) => {
    const key = `${event} ${Object.values(fields).join(" ")}`;
    const before = known.get(key);
    const departure = before ?? { event, fields, counts: { times: 0, size: 0 }, notedAt: clock.now() };
    known.set(key, departure);
    departure.counts = { times: departure.counts.times + 1, size: departure.counts.size + size };
    if (before === undefined || clock.now() - departure.notedAt >= BETWEEN_COUNTS_MILLISECONDS) write(departure);
  };
  return {
    /** The same network. No frame leaves before the lines about it were written, or could not be. */
    network(network: PeerNetwork): PeerNetwork {
      // Frames of one lane replace each other, so a disk that hangs costs no memory.
      const held = new Map<string, { readonly peer: string; readonly frame: Uint8Array }>();
      const send = (peer: string, frame: Uint8Array) => {
        const fields = { study: studyId({ hash: frameStudyHash(frame) }), what: frameKindName(frame) };
        note("sent", { ...fields, to: linkOf(peer), peer }, frame.length);
        if (held.size === 0 && !audit.isWriting()) return network.send(peer, frame);
        held.set(`${peer} ${frameLane(frame)}`, { peer, frame });
        if (held.size > 1) return;
        void audit.attempted().then(() => {
          const all = [...held.values()];
          held.clear();
          for (const one of all) network.send(one.peer, one.frame);
        });
      };
      return { ...network, send };
    },
    added: (study: string, stage: string, integers: number) => note("added", { study, stage }, integers),
    close() {
      for (const departure of known.values()) if (departure.counts.times > 0) write(departure);
    },
  };
}

/** A refusal is written down when it is the first of its kind, and its count once an hour. */
const BETWEEN_COUNTS_MILLISECONDS = 3_600_000;
/** Anybody can knock under a new key again and again: within the time above so many lines are written about it. */
const MOST_REFUSALS = 40;

/** Looks at a status now and then, and notes what was refused since, and what was sent for the first time. */
export function auditDaemonStatus(audit: AuditKeeper, clock: Clock): (status: DaemonStatus) => void {
  const noted = new Map<string, { count: number; at: number }>();
  let hour = { since: clock.now(), lines: 0 };
  let released: { dataReadAt: string; sentBefore: number; isOut: boolean } | undefined;
  const refusal = (who: string, reason: string, count: number) => {
    const key = `${who} ${reason}`;
    const known = noted.get(key);
    const now = clock.now();
    if (count <= (known?.count ?? 0) || (known !== undefined && now - known.at < BETWEEN_COUNTS_MILLISECONDS)) return;
    if (now - hour.since >= BETWEEN_COUNTS_MILLISECONDS) hour = { since: now, lines: 0 };
    hour.lines += 1;
    noted.set(key, { count, at: now });
    if (hour.lines <= MOST_REFUSALS) audit.note("refused", { who, reason, count: count - (known?.count ?? 0) });
    if (hour.lines === MOST_REFUSALS + 1) audit.note("refused", { who: "more than can be named", reason, count: 1 });
  };
  return ({ device, links, pending, dataReadAt, studyHash }) => {
    for (const { name, framesRefused } of links) {
      for (const [reason, count] of Object.entries(framesRefused)) refusal(name, reason, count);
    }
    for (const { peer, attempts } of pending) refusal(peer, "stranger", attempts);
    // Strangers that are not on the list any more are forgotten here too.
    const strangers = new Set(pending.map(({ peer }) => `${peer} stranger`));
    for (const key of noted.keys()) if (key.endsWith(" stranger") && !strangers.has(key)) noted.delete(key);

    if (released?.dataReadAt !== dataReadAt) {
      released = { dataReadAt, sentBefore: released === undefined ? 0 : device.framesSent, isOut: false };
    }
    if (released.isOut || device.framesSent <= released.sentBefore) return;
    released.isOut = true;
    const [centroids, numbers] = [device.centroids?.length ?? 0, device.centroids?.[0]?.length ?? 0];
    const to = links.filter(({ isConnected }) => isConnected).map(({ name }) => name);
    audit.note("released", { study: studyHash, rows: device.rows, centroids, numbers, to: to.slice(0, 20) });
  };
}
