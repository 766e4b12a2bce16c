// Push-sum (Kempe, Dobra and Gehrke 2003): gossip that spreads sums, for the plug-in epidemic.ts.

import type { Graph, Random } from "@fedkm/core";

/**
 * One step, all devices at once: each keeps half of what it holds and sends half to one neighbour, drawn at random. What
 * all hold together never changes. Returns how many sent.
 */
export function pushSum({ neighbours }: Graph, /* IN OUT */ shares: readonly Float64Array[], random: Random): number {
  const targets = neighbours.map((links) => (links.length === 0 ? -1 : links[Math.floor(random() * links.length)]));
  const halves = shares.map((own) => own.map((value) => value / 2));
  let messages = 0;
  targets.forEach((target, i) => {
    if (target < 0) return;
    messages++;
    for (let at = 0; at < shares[i].length; at++) shares[i][at] -= halves[i][at];
    for (let at = 0; at < shares[i].length; at++) shares[target][at] += halves[i][at];
  });
  return messages;
}
