// fedkm device links: who is linked, who waits to be, and what to give to a new neighbour.

import { isLocked, type KeyFacts, keyFacts, type Link, readFolder } from "@fedkm/device/daemon";
import { printable } from "@fedkm/device/printable";
import type { Console } from "../../console.ts";
import { waitingFor } from "../../devices/changes.ts";
import { inviteOf, NO_INVITE } from "../../devices/invite.ts";
import { lastStatus } from "../../devices/state.ts";
import { alignColumns } from "../../table.ts";
import { describeWaiting } from "./accept.ts";

export async function listLinks(
  { state, json }: { state: string; json?: boolean },
  { stdout }: Console,
): Promise<void> {
  const folder = await readFolder(state);
  const status = lastStatus(state);
  const running = status !== undefined && (await isLocked(state)) ? status.links : [];
  const links = folder.links.map((link) => {
    const now = running.find(({ peer }) => peer === link.peer);
    return { ...link, isConnected: now?.isConnected ?? false, via: now?.via ?? null, failure: now?.failure ?? null };
  });
  const pending = waitingFor(folder);
  const keys = await keyFacts(folder);
  const facts = { name: folder.name, invite: (await inviteOf(folder)) ?? null, links, pending, keys };
  const lines = [...describeLinks(links), ...describeWaiting(pending, state), ...describeKeys(links, keys)];
  const text = [...lines.map(printable), "", "this device's invite:", facts.invite ?? NO_INVITE].join("\n");
  stdout.write(`${json ? JSON.stringify(facts, undefined, 2) : text}\n`);
}

interface LinkFacts {
  readonly name: string;
  readonly peer: string;
  readonly isConnected: boolean;
  /** The neighbour through which it is connected, if it is through one. */
  readonly via: string | null;
  readonly failure: string | null;
}

function describeLinks(links: readonly LinkFacts[]): string[] {
  if (links.length === 0) return ["no links yet"];
  const connected = (via: string | null) => (via === null ? "yes" : `via ${via}`);
  const rows = links.map(({ name, isConnected, via, peer }) => [name, isConnected ? connected(via) : "no", peer]);
  const why = links.flatMap(({ name, isConnected, failure }) =>
    isConnected || failure === null ? [] : [`${name}: ${failure.split("\n")[0].slice(0, 200)}`],
  );
  return [...alignColumns([["link", "connected", "peer"], ...rows]), ...why];
}

/** Neighbours with new keys, those that do not know this device's, and what is said about others. */
function describeKeys(links: readonly Link[], { next, behind, revoked }: KeyFacts): string[] {
  const renewed = links.flatMap(({ name, former = [], isAwaited }) => {
    const last = former.at(-1);
    const until = isAwaited ? "; it was not met under it yet" : "";
    return last === undefined ? [] : [`${name} has a new key since ${last.until}, before: ${last.peer}${until}`];
  });
  const own = [
    ...(next === null ? [] : [`this device has a new key that is not in use yet: ${next}`]),
    ...(behind.length === 0 ? [] : [`these do not know this device's new key yet: ${behind.join(", ")}`]),
  ];
  const said = revoked.map(({ signer, peer, reason, isOverruled }) => {
    const because = reason === "" ? "" : `: ${reason}`;
    return `${signer} says that ${peer} is no longer to be trusted${because}${isOverruled ? " (overruled here)" : ""}`;
  });
  const lines = [...renewed, ...own, ...said];
  return lines.length > 0 ? ["", ...lines] : [];
}
