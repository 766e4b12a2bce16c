// What is wrong now with a device's links, keys and rows, in words, read from its status: so a notice ends when its cause does.

import { behindRotation, type KnownRevocation, type Rotation } from "../disk/keyFiles.ts";
import { type Link, linkInFile } from "../disk/linksFile.ts";
import type { Clock } from "../environment.ts";
import { formatInvite } from "../keys/peer.ts";
import type { SharedStatus } from "../loop/status.ts";
import type { GuardedStatus } from "../privacy/guardedRows.ts";
import type { PrivateStatus } from "../privacy/ledger.ts";
import { limitsFault } from "../study/limitedStudy.ts";
import type { Study } from "../study/study.ts";
import { frameVersionFault } from "../wire/frames.ts";
import { CALM_MILLISECONDS, HEARTBEAT_MILLISECONDS } from "../wire/limits.ts";
import type { LinkedFolder } from "./folderFacts.ts";
import type { LinkProblem } from "./notices.ts";
import type { DaemonStatus, LinkStatus } from "./status.ts";

/** In one line each; undefined: all is well. */
export function privacyNotices({ device, links }: Pick<DaemonStatus, "device" | "links">, folder: string) {
  const { guarded, history } = device;
  const command = `fedkm device consent --state ${folder}`;
  const witness = history?.witness && (links.find(({ peer }) => peer === history.witness)?.name ?? history.witness);
  const old = witness
    ? `${witness} has seen more of this device than its folder knows, so the folder is an old copy, and nothing of the rows is sent: stop the device and bring the latest folder back, or consent: ${command}`
    : undefined;
  if (device.private !== null) return releaseNotices(device.private, command, old);
  if (guarded === null) return { history: undefined, waiting: undefined };
  const { isHistoryLost, failure } = guarded;
  const lost = `what this device has published of its rows is not known, so nothing of them is sent until you consent: ${command}`;
  const unwritten = failure === null ? undefined : `the history is not written, and nothing new is sent: ${failure}`;
  const waiting = guardedParts(guarded, device.rows, command);
  return {
    history: old ?? (isHistoryLost ? lost : unwritten),
    waiting: waiting.length > 0 ? waiting.join("; ") : undefined,
  };
}

/** Rows that are held back for so long will not follow by themselves. */
const HELD_BACK_MILLISECONDS = 7 * 86_400_000;

/** Why guarded rows do not count, or not where they belong, and what to do. */
function guardedParts({ rowsWaiting, rowsHeldBack, heldBackSince }: GuardedStatus, rows: number, command: string) {
  const { fresh, guests, since, deleted, deletedUntil } = rowsWaiting;
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const oldest = since === null ? "" : `, the oldest since ${dayOf(since)}`;
  const isHeldBack = heldBackSince !== null && Date.now() - heldBackSince > HELD_BACK_MILLISECONDS;
  return [
    ...(fresh > 0 ? [`${fresh} new rows wait for others of their kind${oldest}`] : []),
    ...(guests > 0 ? [`${guests} rows, whose group has left, wait to count again together with new ones`] : []),
    ...(deletedUntil === null
      ? []
      : [`${deleted} deleted rows count until ${dayOf(deletedUntil)} at the latest; to end that now: ${command}`]),
    ...(isHeldBack
      ? [
          `${rowsHeldBack} of ${rows} rows count for another cluster than their nearest since ${dayOf(heldBackSince)}, ` +
            "because fewer of their group than the minimum have moved; more rows or a study with a smaller minimum help",
        ]
      : []),
  ];
}

function releaseNotices(
  { isHistoryLost, isOutdated, failure }: PrivateStatus,
  command: string,
  old: string | undefined,
) {
  const lost = `what was released of this device's rows is not known, so nothing of them is until you consent: ${command}`;
  return {
    history: old ?? (isHistoryLost ? lost : (failure ?? undefined)),
    waiting: isOutdated
      ? `the data are others than those that were released, which still count; a release of these costs epsilon again: ${command}`
      : undefined,
  };
}

/** What needs no answer is shown for this time, by the wall clock. */
const SHOWN_MILLISECONDS = 7 * 86_400_000;
/** Of what one signer says, so much stands in its notice. */
const MOST_SAID = 3;

interface KeyFactsNow {
  readonly self: string;
  readonly links: readonly Link[];
  readonly rotation: Rotation;
  readonly revoked: readonly KnownRevocation[];
  /** Names of neighbours that named two new keys. */
  readonly forked: readonly string[];
}

export function keyProblems(facts: KeyFactsNow, now: Date): LinkProblem[] {
  const { self, links, rotation, forked } = facts;
  const isFresh = (date: string) => now.getTime() - Date.parse(date) < SHOWN_MILLISECONDS;
  const lagging = behindRotation(
    rotation,
    self,
    links.map(({ peer }) => peer),
  );
  const found = links.flatMap(({ name, peer, former = [], isAwaited }): LinkProblem[] => {
    const since = former.at(-1)?.until;
    const parts = [
      ...(since !== undefined && (isAwaited || isFresh(since))
        ? [`has a new key since ${since}, as its old key says`]
        : []),
      ...(isAwaited ? ["was not met under it yet"] : []),
      ...(lagging.includes(peer) ? ["does not know this device's new key yet"] : []),
      ...(forked.includes(name) ? ["named two new keys, so one may be a thief's: ask its owner which to revoke"] : []),
    ];
    return parts.length > 0 ? [{ cause: "key", link: name, text: `${name} ${parts.join(", and ")}` }] : [];
  });
  return [...found, ...revocationProblems(facts, isFresh)];
}

/** One notice for each signer. */
function revocationProblems({ self, links, revoked }: KeyFactsNow, isFresh: (date: string) => boolean): LinkProblem[] {
  const shown = revoked.filter(({ revocation, via, heardAt, isOverruled }) => {
    const isOpen = linkInFile(links, revocation.revoked) !== undefined || revocation.revoked === self;
    return via !== null && !isOverruled && (isOpen || isFresh(heardAt));
  });
  const signers = [...new Set(shown.map(({ revocation }) => revocation.signer))];
  return signers.map((signer): LinkProblem => {
    const name = linkInFile(links, signer)?.name ?? signer;
    const said = shown.filter(({ revocation }) => revocation.signer === signer);
    const texts = said.slice(0, MOST_SAID).map((entry) => sentenceOf(entry, links, self));
    const more = said.length > MOST_SAID ? [`and of ${said.length - MOST_SAID} others, see fedkm device links`] : [];
    return { cause: "revoked", link: name, text: `${name} says that ${[...texts, ...more].join("; ")}` };
  });
}

function sentenceOf({ revocation, unlinked }: KnownRevocation, links: readonly Link[], self: string): string {
  const { revoked, reason } = revocation;
  const link = linkInFile(links, revoked);
  const who = revoked === self ? "this device" : (link?.name ?? unlinked?.name ?? revoked);
  const because = reason === "" ? "" : `: ${reason}`;
  const said = `${who} is no longer to be trusted${because}`;
  if (unlinked !== null) {
    const again = `fedkm device link ${formatInvite(unlinked)} --name ${unlinked.name} --accept revoked`;
    return `${said} (it was unlinked; to undo that: ${again})`;
  }
  return link === undefined ? said : `${said} (it is still linked; to unlink it: fedkm device unlink ${link.name})`;
}

/** A neighbour of whose pulls more than this share is left out disagrees. */
const DISAGREES = 0.5;

const DISAGREES_REMARK =
  "its data may honestly be others, or it may be wrong or lie: you decide whether it stays linked";

const RESTLESS_REMARK = `only its latest centroids are used, once in ${CALM_MILLISECONDS / 1000} s`;

/** `peers`: those that pull while others do not; undefined: all is well. */
export function pulledNotice(peers: readonly string[] | null, links: readonly LinkStatus[]): string | undefined {
  if (peers === null) return undefined;
  const names = links.flatMap(({ peer, name }) => (peers.includes(peer) ? [name] : []));
  return names.length === 0
    ? "the clusters are far from this device's own rows, where its neighbours agree: check unit, columns and file of its data first"
    : `${names.join(" and ")} pulls the clusters away from this device's own rows, and other neighbours do not: its rows may be others or wrong, or it lies`;
}

/** A link that is down for longer than a restart takes is worth a notice. */
const DOWN_MILLISECONDS = 6_000;
/** A neighbour that is heard no more although its link stands has missed its heartbeat by half. */
const SILENT_MILLISECONDS = 1.5 * HEARTBEAT_MILLISECONDS;

/** Returns the names of links that are down, or of which nothing was heard, for too long. */
export function silenceOfLinks(clock: Clock): (links: readonly LinkStatus[]) => ReadonlySet<string> {
  const changed = new Map<string, { isConnected: boolean; at: number }>();
  return (links) => {
    const now = clock.now();
    const silent = links.filter(({ name, isConnected, isVanished, age }) => {
      const last = changed.get(name);
      const state = last?.isConnected === isConnected ? last : { isConnected, at: now };
      changed.set(name, state);
      const quiet = isConnected ? Math.min(now - state.at, age ?? Number.POSITIVE_INFINITY) : now - state.at;
      // A machine that answers nothing any more is not about to be back.
      return (!isConnected && isVanished) || quiet > (isConnected ? SILENT_MILLISECONDS : DOWN_MILLISECONDS);
    });
    return new Set(silent.map(({ name }) => name));
  };
}

/** Why nothing comes from a neighbour, by what is known on this side. */
function silenceText({ isConnected, isVanished, framesHeard, failure }: LinkStatus): string {
  if (isConnected) {
    return framesHeard === 0
      ? "is connected, but has sent nothing yet"
      : "is connected, but its heartbeat stays out: its process may hang";
  }
  if (isVanished) return "answers nothing any more: its machine is off, or the network between the two is cut";
  return `cannot be reached: ${failure ?? "nobody answered yet"}`;
}

/** `bans`: why peers are kept away, by peer; it ends when they are linked again. */
export function linkProblems(
  links: readonly LinkStatus[],
  bans: ReadonlyMap<string, string>,
  silent: ReadonlySet<string>,
): LinkProblem[] {
  return links.flatMap((link): LinkProblem[] => {
    const { name, peer, isConnected, refusal, conflict, version, proposal } = link;
    const ban = isConnected ? undefined : bans.get(peer);
    const found: [LinkProblem["cause"], string | null | undefined][] = [
      ["away", link.isAway ? "is away: it was silent for long, and updates leave it out until it is heard" : null],
      ["study", refusal && `is refused: ${refusal}`],
      ["proposal", proposal && `proposes another study, ${proposal}`],
      ["change", link.isMissing ? "has not accepted the study that this device is changing to" : null],
      ["out", link.isOut ? "stays out of this study, as its owner decided" : null],
      ["order", conflict],
      ["fault", link.fault],
      ["version", version == null ? null : frameVersionFault(version)],
      ["ban", ban && `is kept away for a while: ${ban}`],
      ["restless", link.isRestless ? `never rests: ${RESTLESS_REMARK}` : null],
      [
        "disagrees",
        (link.rejected ?? 0) > DISAGREES ? `disagrees, and most of its pull is left out: ${DISAGREES_REMARK}` : null,
      ],
      ["openings", link.opensTooOften ? "asks for a new opening too often, and is not followed for a while" : null],
      ["relay", lostRelay(link, links)],
    ];
    // Whatever is known to be wrong says more than that nothing comes.
    const isExplained = found.some(([cause, text]) => text && (cause !== "away" || isConnected));
    if (silent.has(name) && !isExplained) {
      const isRefused = !isConnected && link.isUnwanted;
      found.unshift(isRefused ? ["refused", `refuses this device: ${link.failure}`] : ["silent", silenceText(link)]);
    }
    return found.flatMap(([cause, text]) => (text ? [{ cause, link: name, text: `${name} ${text}` }] : []));
  });
}

/** Once an attempt has failed: at the start a relay needs a moment as well. */
function lostRelay({ isConnected, failure, relays }: LinkStatus, links: readonly LinkStatus[]): string | undefined {
  const isThere = links.some(({ name, isRelay }) => isRelay && relays.includes(name));
  if (isConnected || failure === null || relays.length === 0 || isThere) return undefined;
  return `cannot be reached: ${relays.join(" and ")}, which relayed to it, does not relay now`;
}

/** Why the device stays out of its study, and what its owner can do; undefined: it takes part. */
export function limitsNotice(study: Study, { path, limits = {} }: Pick<LinkedFolder, "path" | "limits">) {
  const fault = limitsFault(study, limits);
  return (
    fault &&
    `this device stays out of the study and sends nothing of its rows, because ${fault}: propose another study, or change ` +
      `limits in ${path}/device.json (fedkm device consent STAGE --state ${path} adds a stage)`
  );
}

/** Why there are no sums over all devices, or why they are not used; undefined: all is well, or clusters are not shared. */
export function sumsNotice(shared: SharedStatus | null): string | undefined {
  if (shared === null) return undefined;
  const { waiting, isImplausible, removed, disputed, suspended, members, leastMembers } = shared;
  if (isImplausible) {
    const cause = "the sums over all devices are none of rows that they may hold, within the study's bounds";
    return `${cause}: a device is wrong or lies${booksRemark(shared)}`;
  }
  if (disputed.length > 0)
    return `the two ends of a link signed for different pads, so one of them lies: ${disputed.join(", ")}`;
  if (shared.books !== null)
    return `${shared.doubts} devices say that the answer does not fit their rows${booksRemark(shared)}`;
  if (waiting !== null) return `this device ${waiting}`;
  if (members !== null && members < leastMembers)
    return `the study has ${members} members: fewer than ${leastMembers} (colluders and two others) hide nothing from each other`;
  if (suspended.length > 0)
    return `left out for a while, because they made all add up again too often: ${suspended.join(", ")}`;
  const named = removed.map(({ device, fault }) => `${device} ${fault}`);
  return named.length === 0 ? undefined : `left out for good, as evidence shows: ${named.join(", ")}`;
}

/** Whose sums are known, so that the device at fault is found. */
function booksRemark({ books }: SharedStatus): string {
  if (books === null) return "";
  const { opened, unopened } = books;
  if (unopened.length === 0) return `; the books of all ${opened.length} are open`;
  const command = "fedkm device consent books opens those of this device";
  return `; of ${opened.length + unopened.length} devices ${opened.length} have opened their books; ${command}`;
}
