// What is wrong with the links of a device now, read from its status: so a notice ends when its cause does.

import type { LinkProblem } from "./notices.ts";
import type { LinkStatus } from "./status.ts";

/** `bans`: why peers are kept away, by peer; it ends when they are linked again. */
export function linkProblems(links: readonly LinkStatus[], bans: ReadonlyMap<string, string>): LinkProblem[] {
  return links.flatMap(({ name, peer, isConnected, isAway, refusal, conflict }): LinkProblem[] => {
    const ban = isConnected ? undefined : bans.get(peer);
    const found: [LinkProblem["cause"], string | null | undefined][] = [
      ["away", isAway ? "is away: it was silent for long, and updates leave it out until it is heard" : null],
      ["study", refusal && `is refused: ${refusal}`],
      ["order", conflict],
      ["ban", ban && `is kept away for a while: ${ban}`],
    ];
    return found.flatMap(([cause, text]) => (text ? [{ cause, link: name, text: `${name} ${text}` }] : []));
  });
}
