// What is wrong with the links of a device now, read from its status: so a notice ends when its cause does.

import type { SharedStatus } from "../loop/status.ts";
import { versionFault } from "../version.ts";
import { CALM_MILLISECONDS } from "../wire/limits.ts";
import type { LinkProblem } from "./notices.ts";
import type { LinkStatus } from "./status.ts";

/** A neighbour of whose pulls more than this share is left out disagrees. */
const DISAGREES = 0.5;

const DISAGREES_REMARK =
  "its data may honestly be others, or it may be wrong or lie: you decide whether it stays linked";

const RESTLESS_REMARK = `only its latest centroids are used, once in ${CALM_MILLISECONDS / 1000} s`;

/** About the device itself. */
export const PULLED =
  "neighbours pull the clusters far from the own rows: the rows may be others than theirs, or neighbours may be wrong or lie";

/** `bans`: why peers are kept away, by peer; it ends when they are linked again. */
export function linkProblems(links: readonly LinkStatus[], bans: ReadonlyMap<string, string>): LinkProblem[] {
  return links.flatMap((link): LinkProblem[] => {
    const {
      name,
      peer,
      isConnected,
      isAway,
      isRestless,
      opensTooOften,
      rejected,
      refusal,
      conflict,
      version,
      proposal,
      isMissing,
    } = link;
    const ban = isConnected ? undefined : bans.get(peer);
    const found: [LinkProblem["cause"], string | null | undefined][] = [
      ["away", isAway ? "is away: it was silent for long, and updates leave it out until it is heard" : null],
      ["study", refusal && `is refused: ${refusal}`],
      ["proposal", proposal && `proposes another study, ${proposal}`],
      ["change", isMissing ? "has not accepted the study that this device is changing to" : null],
      ["order", conflict],
      ["version", version == null ? null : versionFault(version)],
      ["ban", ban && `is kept away for a while: ${ban}`],
      ["restless", isRestless ? `never rests: ${RESTLESS_REMARK}` : null],
      [
        "disagrees",
        (rejected ?? 0) > DISAGREES ? `disagrees, and most of its pull is left out: ${DISAGREES_REMARK}` : null,
      ],
      ["openings", opensTooOften ? "asks for a new opening too often, and is not followed for a while" : null],
      ["relay", lostRelay(link, links)],
    ];
    return found.flatMap(([cause, text]) => (text ? [{ cause, link: name, text: `${name} ${text}` }] : []));
  });
}

/** Once an attempt has failed: at the start a relay needs a moment as well. */
function lostRelay({ isConnected, failure, relays }: LinkStatus, links: readonly LinkStatus[]): string | undefined {
  const isThere = links.some(({ name, isRelay }) => isRelay && relays.includes(name));
  if (isConnected || failure === null || relays.length === 0 || isThere) return undefined;
  return `cannot be reached: ${relays.join(" and ")}, which relayed to it, does not relay now`;
}

/** Why there are no sums over all devices, or why they are not used; undefined: all is well, or clusters are not shared. */
export function sumsFault(shared: SharedStatus | null): string | undefined {
  if (shared === null) return undefined;
  const { waiting, isImplausible, twofaced } = shared;
  if (isImplausible)
    return "the sums over all devices are none of rows within the study's bounds: a device is wrong or lies";
  if (twofaced.length > 0) return `two different sums of one time are signed by ${twofaced.join(", ")}: a device lies`;
  return waiting === null ? undefined : `this device ${waiting}`;
}
