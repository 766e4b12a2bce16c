// How devices are, in one headline, worst first: what is wrong, with whom, why, since when, and what to do. The dashboard,
// `device status` and its exit code show what is decided here. A device is well only if there is evidence that it is.

import { LOCK_ANSWER_MILLISECONDS, type LockAnswer } from "../disk/folderLock.ts";
import { LONGEST_RETRY_MILLISECONDS, STATUS_QUIET_MILLISECONDS } from "../wire/limits.ts";
import type { Notice } from "./notices.ts";
import type { DaemonStatus, LinkStatus } from "./status.ts";

/** What is known about one device from outside. */
export interface DeviceEvidence {
  /** How pages name it. */
  readonly id: string;
  readonly folder: string;
  /** What it last wrote; undefined: nothing yet. */
  readonly status: DaemonStatus | undefined;
  /** What its lock said last; undefined: it has not been asked for long enough. */
  readonly lock: LockAnswer | undefined;
  /** When its process was last known to live, by the wall clock; null: it was not since somebody looks. */
  readonly answeredAt: number | null;
  /** The process is stopped by a signal, as the system says; undefined where it does not say. */
  readonly isSuspended?: boolean;
  /** Bytes left for it on the disk of its folder; undefined: not known. */
  readonly freeBytes?: number | undefined;
  /** Files that can still be made there; undefined: not known. */
  readonly freeFiles?: number | undefined;
  /** Nothing can be written there, whatever room there is. */
  readonly isReadOnly?: boolean;
  /** How it has ended lately, and what the program that runs it does about that, as a sentence. */
  readonly supervision?: string | undefined;
}

/** Beside the causes of notices: what a device cannot say of itself, or does not know. */
type OuterCause = "gone" | "hung" | "disk" | "unwritten" | "clock" | "cut" | "lie" | "stopped" | "restarted" | "unit";

/** Something that is wrong with a device. */
export interface Finding {
  readonly cause: OuterCause | Notice["cause"];
  readonly isAlarm: boolean;
  /** The id and the name of the device that it is about. */
  readonly id: string;
  readonly device: string;
  /** The link that it is about, by its name. */
  readonly link: string | null;
  /** What goes on, as words after the device's name. */
  readonly what: string;
  /** The evidence, as a whole sentence or several. */
  readonly why: string;
  /** What a person should do, as a whole sentence. */
  readonly action: string;
  /** By the wall clock; null: not known. */
  readonly since: number | null;
}

/** How all devices of a dashboard are. */
export interface Health {
  readonly devices: number;
  /** What stands above everything else, in two parts: the alarm, if there is one, and the rest; and since when. */
  readonly headline: { readonly alarm: string; readonly rest: string; readonly since: number | null };
  /** How many devices each cause is about, the worst first. */
  readonly summary: readonly string[];
  /** Something is wrong, so that a person must look. */
  readonly isAlarm: boolean;
  /** Every device has shown within its time that nothing is wrong. */
  readonly isWell: boolean;
  /** The worst first. */
  readonly findings: readonly Finding[];
}

/** A running device that can write does so within STATUS_QUIET_MILLISECONDS; a busy machine gets as long again. */
const FRESH_MILLISECONDS = 2 * STATUS_QUIET_MILLISECONDS;
/** A process is asked every second. Of one that has not answered for so long nobody knows whether it is well. */
const UNANSWERED_MILLISECONDS = 4_000;
/** With less room on its disk a device cannot write its files. */
const LEAST_FREE_BYTES = 65_536;
/** A clock that is further behind what it wrote itself was set back. */
const CLOCK_MILLISECONDS = 60_000;
/** From this share of rows out of bounds on it is the unit or the column, and not some rows. */
const UNIT_SHARE = 0.5;

/** What is said of one device and of several, and what to do; in the order in which it matters, the worst first. */
const causes: Readonly<Record<Finding["cause"], readonly [one: string, several: string, action: string]>> = {
  gone: ["does not answer", "do not answer", "Start it"],
  hung: ["does not answer", "do not answer", "End its process and start it again"],
  disk: ["has no room on its disk", "have no room on their disks", "Free the disk; all files are written then."],
  unwritten: ["writes nothing", "write nothing", "Let it write in its folder: check rights and disk."],
  stopped: ["is stopped", "are stopped", "Start it"],
  data: [
    "cannot read its data",
    "cannot read their data",
    "Correct the file or start the database; it is read again by itself.",
  ],
  unit: [
    "has rows in a wrong unit",
    "have rows in a wrong unit",
    "Check the unit and the columns of its data against the study.",
  ],
  rows: ["has outlying rows", "have outlying rows", "Check these rows, or the bounds of the study."],
  history: [
    "sends nothing of its rows",
    "send nothing of their rows",
    "See that the disk has room, or consent as the notice says.",
  ],
  lie: [
    "pulls its neighbours away from their rows",
    "pull their neighbours away from their rows",
    "Check the unit, the columns and the file of its data; if its owner cannot explain them, unlink it.",
  ],
  pulled: ["is pulled away from its rows", "are pulled away from their rows", "See what the notice names first."],
  disagrees: [
    "has a neighbour that disagrees",
    "have neighbours that disagree",
    "Ask the neighbour's owner what its rows are; unlink it if they are wrong.",
  ],
  fault: [
    "has a neighbour that breaks a rule",
    "have neighbours that break a rule",
    "Ask its owner; unlink it if it goes on.",
  ],
  sums: ["has no usable sums", "have no usable sums", "Do what the notice says, or ask the owner that it names."],
  cut: ["has cut a link", "have cut links", "Link again, or unlink on the other side too"],
  refused: ["is refused by a neighbour", "are refused by a neighbour", "Ask its owner to link this device."],
  silent: [
    "does not hear a neighbour",
    "do not hear a neighbour",
    "Ask its owner whether it runs, and look at the network between the two.",
  ],
  relay: ["has lost a relay", "have lost a relay", "Ask the relay's owner."],
  away: ["has a neighbour that is away", "have neighbours that are away", "Ask its owner whether it runs."],
  study: ["refuses a neighbour", "refuse a neighbour", "Agree on one study."],
  version: ["has a neighbour of another version", "have neighbours of another version", "Update the older of the two."],
  clock: ["has a clock that was set back", "have clocks that were set back", "Set the clock of the machine."],
  order: [
    "has a neighbour out of order",
    "have neighbours out of order",
    "Do what the notice says: a clock, a backup or a copied key went back.",
  ],
  ban: ["keeps a neighbour away", "keep neighbours away", "Ask its owner which version it runs."],
  revoked: ["hears of a revoked key", "hear of revoked keys", "Ask the owner."],
  restless: [
    "has a neighbour that never rests",
    "have neighbours that never rest",
    "Ask its owner whether its data keep changing.",
  ],
  openings: [
    "has a neighbour that starts over too often",
    "have neighbours that start over too often",
    "Ask its owner whether its links keep changing.",
  ],
  state: ["does not keep its state", "do not keep their state", "Free the disk."],
  epoch: ["could not start again", "could not start again", "Free the disk before the next start."],
  status: ["does not write its status", "do not write their status", "Free the disk."],
  links: ["cannot use its links", "cannot use their links", "Correct links.json."],
  reset: ["cannot follow its owner", "cannot follow their owners", "Let the device write in its folder."],
  met: ["forgets where neighbours are", "forget where neighbours are", "Free the disk."],
  keys: ["cannot keep its keys", "cannot keep their keys", "Free the disk, or restore the file."],
  next: ["cannot change its study", "cannot change their study", "Correct what the notice names."],
  audit: ["has a fault in its audit log", "have faults in their audit logs", "See fedkm device log, or free the disk."],
  restarted: ["was started again", "were started again", "Look at the end of device.log in its folder."],
  log: ["loses lines of its log", "lose lines of their log", "Free the disk, or start the program that reads them."],
  record: ["does not record frames", "do not record frames", "Free the disk, or start with another file."],
  limits: [
    "stays out of the study",
    "stay out of the study",
    "Propose another study, or change the limits in its device.json.",
  ],
  out: ["has a neighbour that stays out", "have neighbours that stay out", "Nothing: its owner decided so."],
  change: [
    "waits for a neighbour to change its study",
    "wait for neighbours to change their study",
    "Ask its owner, or see fedkm device study finish.",
  ],
  proposal: ["has a proposal", "have proposals", "Accept it, or ask its owner."],
  paused: ["is paused", "are paused", "Resume it when you want."],
  waiting: ["has rows that wait", "have rows that wait", "Nothing: they count when there are enough of them."],
  key: ["has a neighbour with a new key", "have neighbours with new keys", "Nothing."],
};
const order = Object.keys(causes) as Finding["cause"][];
/** What a person has decided or need not act on is no alarm. */
const notes = new Set<Finding["cause"]>(["out", "change", "proposal", "paused", "waiting", "key"]);

/** `now`: by the wall clock. */
export function healthOf(devices: readonly DeviceEvidence[], now: number): Health {
  const own = devices.flatMap((device) => ownFindings(device, now));
  const findings = judgeTogether(own, devices, now).sort(
    (a, b) => order.indexOf(a.cause) - order.indexOf(b.cause) || (a.since ?? now) - (b.since ?? now),
  );
  const unknown = devices.filter(({ lock, status, answeredAt }) => {
    const isLate = lock === "answers" && now - (answeredAt ?? 0) > UNANSWERED_MILLISECONDS;
    return lock === undefined || status === undefined || isLate;
  });
  return {
    devices: devices.length,
    headline: headlineOf(findings, devices, unknown),
    summary: [...new Set(findings.map(({ cause }) => cause))].map((cause) => {
      const { names, words } = concerned(findings, cause);
      return `${names.length} ${words}`;
    }),
    isAlarm: findings.some(({ isAlarm }) => isAlarm),
    isWell: devices.length > 0 && findings.length === 0 && unknown.length === 0,
    findings,
  };
}

/** The devices that a cause is about, and what goes on, as words after their number. */
function concerned(findings: readonly Finding[], cause: Finding["cause"]) {
  const names = [...new Set(findings.filter((one) => one.cause === cause).map(({ device }) => device))];
  const [one, several] = causes[cause];
  return { names, words: names.length === 1 ? one : several };
}

function headlineOf(
  findings: readonly Finding[],
  devices: readonly DeviceEvidence[],
  unknown: readonly DeviceEvidence[],
): Health["headline"] {
  const [worst] = findings;
  const calm = (rest: string) => ({ alarm: "", rest, since: null });
  if (devices.length === 0) return calm("There is no device");
  if (worst === undefined) {
    const [{ id }] = devices;
    if (unknown.length === 0)
      return calm(
        `Nothing is wrong: ${devices.length === 1 ? `${id} answers` : `all ${devices.length} devices answer`}`,
      );
    const words = unknown.length === 1 ? "is being asked how it is" : "are being asked how they are";
    if (devices.length === 1) return calm(`${id} ${words}`);
    return calm(`${unknown.length} of ${devices.length} devices ${words}: ${listed(unknown.map((one) => one.id))}`);
  }
  const { names, words } = concerned(findings, worst.cause);
  const said =
    devices.length === 1
      ? { alarm: `${worst.device} ${worst.what}`, rest: "" }
      : {
          alarm: `${names.length} of ${devices.length} devices ${words}`,
          rest: `: ${listed(names)}`,
        };
  return worst.isAlarm ? { ...said, since: worst.since } : { ...calm(said.alarm + said.rest), since: worst.since };
}

/** Of many names, so many are said. */
const MOST_NAMES = 4;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more > 0 ? `${names.slice(0, MOST_NAMES).join(", ")} and ${more} more` : names.join(", ");
}

/** What the evidence about one device alone says. */
function ownFindings(device: DeviceEvidence, now: number): Finding[] {
  const { folder, status, lock, answeredAt, supervision, isSuspended, freeBytes, freeFiles, isReadOnly } = device;
  const seen = answeredAt ?? (status === undefined ? null : Date.parse(status.writtenAt));
  const start = `fedkm device run --state ${folder} starts it.`;
  if (lock === "free" && supervision !== undefined) {
    return [finding(device, "gone", seen, "Its process has ended.", supervision)];
  }
  if (status === undefined || lock === undefined) return [];
  if (lock === "free") {
    return status.stoppedAt === null
      ? [finding(device, "gone", seen, `Its process ${status.pid} is gone, and ended without a word.`, start)]
      : [finding(device, "stopped", Date.parse(status.stoppedAt), "Somebody has stopped it.", start)];
  }
  if (lock === "silent") {
    const { pid } = status;
    return isSuspended === true
      ? [
          finding(
            device,
            "hung",
            seen,
            `Its process ${pid} is suspended by a signal.`,
            `kill -CONT ${pid} continues it.`,
          ),
        ]
      : [
          finding(
            device,
            "hung",
            seen,
            `Its process ${pid} holds its lock, but has not answered for ${LOCK_ANSWER_MILLISECONDS / 1000} s: it hangs.`,
            `kill -9 ${pid} ends it; then ${start}`,
          ),
        ];
  }
  const age = now - Date.parse(status.writtenAt);
  const found: Finding[] = [];
  if (freeBytes !== undefined && freeBytes < LEAST_FREE_BYTES) {
    found.push(finding(device, "disk", null, `${freeBytes} bytes are left on the disk of ${folder}.`));
  } else if (freeFiles === 0) {
    found.push(finding(device, "disk", null, `The disk of ${folder} has as many files as it can hold.`));
  } else if (isReadOnly) {
    found.push(finding(device, "unwritten", null, `The disk of ${folder} can only be read.`));
  } else if (age > FRESH_MILLISECONDS) {
    const why = `Its process ${status.pid} answers, but writes no status in ${folder}.`;
    found.push(finding(device, "unwritten", Date.parse(status.writtenAt), why));
  } else if (age < -CLOCK_MILLISECONDS) {
    found.push(finding(device, "clock", null, `Its status is of ${status.writtenAt}, which is yet to come.`));
  }
  if (supervision !== undefined) found.push(finding(device, "restarted", null, supervision));
  const isFull = found.some(({ cause }) => cause === "disk" || cause === "unwritten");
  const open = status.notices.filter(({ until, cause }) => until === null && !(isFull && unwritable.has(cause)));
  return [...found, ...open.map((notice) => findingOfNotice(device, status, notice))];
}

/** What follows from a full disk. */
const unwritable = new Set<Notice["cause"]>(["state", "epoch", "status", "met", "audit", "log", "record", "keys"]);

function findingOfNotice(device: DeviceEvidence, status: DaemonStatus, { cause, link, text, since }: Notice): Finding {
  const { rows, rowsLeftOut } = status.device;
  const isUnit = cause === "rows" && rowsLeftOut > UNIT_SHARE * (rows + rowsLeftOut);
  const found = finding(device, isUnit ? "unit" : cause, Date.parse(since), `${text}.`);
  return { ...found, link, what: found.what.replace("a neighbour", link ?? "a neighbour") };
}

function finding(
  { id, status }: Pick<DeviceEvidence, "id" | "status">,
  cause: Finding["cause"],
  since: number | null,
  why: string,
  action = causes[cause][2],
): Finding {
  const name = status?.name ?? id;
  return {
    cause,
    isAlarm: !notes.has(cause),
    id,
    device: name,
    link: null,
    what: causes[cause][0],
    why,
    action,
    since,
  };
}

/** Devices that are known together explain each other: what follows from another one's trouble is said there. */
function judgeTogether(own: readonly Finding[], devices: readonly DeviceEvidence[], now: number): Finding[] {
  const isFresh = ({ lock, status }: DeviceEvidence) =>
    lock === "answers" && status !== undefined && now - Date.parse(status.writtenAt) <= FRESH_MILLISECONDS;
  const byPeer = new Map(devices.flatMap((device) => (device.status ? [[device.status.device.peer, device]] : [])));
  const neighbourOf = (id: string, link: string | null) => {
    const known = devices.find((device) => device.id === id)?.status?.links.find(({ name }) => name === link);
    return known && byPeer.get(known.peer);
  };
  const cuts = devices.filter(isFresh).flatMap((device) => cutsAgainst(device, byPeer, isFresh));
  const isCut = (id: string, other: string) => cuts.some((cut) => cut.about === id && cut.id === other);
  const dead = new Set(own.flatMap(({ cause, id }) => (["gone", "hung", "stopped"].includes(cause) ? [id] : [])));
  const waiting = new Map<string, string[]>();
  const rest = own.filter(({ cause, id, device, link }) => {
    const other = ["silent", "refused", "away", "relay"].includes(cause) ? neighbourOf(id, link) : undefined;
    if (other === undefined) return true;
    if (dead.has(other.id)) waiting.set(other.id, [...(waiting.get(other.id) ?? []), device]);
    return !dead.has(other.id) && !isCut(id, other.id) && !isCut(other.id, id);
  });
  const explained = rest.map((one) => {
    const other = one.cause === "silent" ? neighbourOf(one.id, one.link) : undefined;
    const ends = [other, devices.find(({ id }) => id === one.id)].flatMap((end) => end?.status ?? []);
    if (other !== undefined && isFresh(other)) return { ...one, ...wayBetween(one, ends) };
    const names = dead.has(one.id) ? waiting.get(one.id) : undefined;
    return names === undefined
      ? one
      : { ...one, why: `${one.why} ${listed(names)} ${names.length === 1 ? "waits" : "wait"} for it.` };
  });
  return namePullers([...explained, ...cuts.map(({ about, ...cut }) => cut)], devices, byPeer);
}

/** Both ends run, so that it is neither of them. */
function wayBetween({ device, link }: Finding, ends: readonly DaemonStatus[]): Pick<Finding, "why" | "action"> {
  const startedAt = Math.max(...ends.map((end) => Date.parse(end.startedAt)));
  const peers = ends.map((end) => end.device.peer);
  const hasMet = ends.some(({ links, writtenAt }) =>
    links.some(({ peer, age }) => peers.includes(peer) && age !== null && Date.parse(writtenAt) - age > startedAt),
  );
  // Whoever dials may wait to dial again, as it did while the other end was not there.
  const waits = `have not met since one of them was started: they try within ${LONGEST_RETRY_MILLISECONDS / 60_000} minutes`;
  const isCut = `nothing comes from ${link}: the network between the two is cut, or an address is wrong`;
  return {
    why: `Both ${device} and ${link} run, but ${hasMet ? isCut : waits}.`,
    action: `${hasMet ? "Look" : "Wait; then look"} at cables, routers and firewalls between the two, and at the address of the link.`,
  };
}

/** Devices that have no link to one that has linked them. */
function cutsAgainst(
  { id, folder, status }: DeviceEvidence,
  byPeer: ReadonlyMap<string, DeviceEvidence>,
  isFresh: (device: DeviceEvidence) => boolean,
): (Finding & { readonly about: string })[] {
  if (status === undefined) return [];
  const { name, device } = status;
  return status.links.flatMap(({ peer, name: link }: LinkStatus) => {
    const other = byPeer.get(peer);
    if (other?.status === undefined || !isFresh(other)) return [];
    if (other.status.links.some((back) => back.peer === device.peer)) return [];
    const why = `${other.status.name} has no link to ${name}, which has linked it, so nothing flows between them.`;
    const action = `Link it again in ${other.folder}, or fedkm device unlink ${link} --state ${folder} ends the other side too.`;
    return [{ ...finding(other, "cut", null, why, action), link: name, about: id }];
  });
}

/** Whoever pulls others is named once, with them; who is pulled by others passes on their pull, and is not to blame. */
function namePullers(
  findings: readonly Finding[],
  devices: readonly DeviceEvidence[],
  byPeer: ReadonlyMap<string, DeviceEvidence>,
): Finding[] {
  const judged = new Set<Finding["cause"]>(["pulled", "disagrees"]);
  const accused = new Map<string, Finding[]>();
  const isVictim = (id: string) =>
    (devices.find((device) => device.id === id)?.status?.device.pulledBy ?? []).some((peer) => byPeer.has(peer));
  const others = findings.filter((one) => {
    if (!judged.has(one.cause)) return true;
    const status = devices.find(({ id }) => id === one.id)?.status;
    const peers =
      one.cause === "pulled"
        ? (status?.device.pulledBy ?? [])
        : (status?.links ?? []).flatMap(({ name, peer }) => (name === one.link ? [peer] : []));
    const known = peers.flatMap((peer) => byPeer.get(peer) ?? []);
    for (const { id } of known) accused.set(id, [...(accused.get(id) ?? []), one]);
    return known.length < peers.length || peers.length === 0;
  });
  const liars = [...accused].filter(([id]) => !isVictim(id));
  // Where all accuse each other, nobody is excused.
  const named = liars.length > 0 ? liars : [...accused];
  const lies = named.map(([id, by]) => {
    const device = devices.find((one) => one.id === id) as DeviceEvidence;
    const isOdd = device.status?.device.pulledBy?.length === 0;
    const odd = isOdd ? " All its neighbours agree against its rows." : "";
    const since = Math.min(...by.map((one) => one.since ?? Number.POSITIVE_INFINITY));
    const why = `It pulls ${listed([...new Set(by.map((one) => one.device))])} away from their own rows.${odd}`;
    return finding(device, "lie", since, why);
  });
  const isSaid = ({ cause, id }: Finding) => cause === "pulled" && named.some(([liar]) => liar === id);
  return [...others.filter((one) => !isSaid(one)), ...lies];
}
