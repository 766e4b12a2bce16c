// fedkm device link, accept, unlink, links and relay: who the neighbours of a device are. A running device follows within seconds.

import type { Study } from "@fedkm/device";
import {
  isLocked,
  type KeyFacts,
  type Link,
  lastStatus,
  loadFolderFacts,
  privacyWords,
  type Stranger,
  strangerName,
  whatTrustMeans,
} from "@fedkm/device/light";
import { printable } from "@fedkm/files/printable";
import { alignColumns } from "@fedkm/pictures/terminal";
import { askPerson, type Console, printAnswer, warnOn } from "../../console.ts";
import { UsageError } from "../../failure.ts";

/** What commands show where a device has no invite. */
export const NO_INVITE =
  "none yet: the device listens on any free port, which is known while it runs (then see fedkm device links)";

/** What changes links; not loaded to look at them. */
const changes = () => import("@fedkm/device/daemon");

export interface NeighbourOptions {
  readonly state: string;
  readonly name?: string;
  readonly accept?: readonly ("open" | "revoked")[];
}

export async function runDeviceLinkCommand(invite: string, options: NeighbourOptions, io: Console): Promise<void> {
  const { state, name, accept = [] } = options;
  const allowRevoked = accept.includes("revoked");
  const { folderInvite, linkPeer, parseInvite, readFolder } = await changes();
  const folder = await readFolder(state);
  const neighbour = parseInvite(invite);
  if (neighbour.peer === folder.identity.peer)
    throw new UsageError("invite must be of another device, got this one's own");
  // What is refused must change nothing, and --accept revoked overrules a revocation.
  await agreeToOpen(folder.study, options, io);
  const linked = await linkPeer(folder, { ...neighbour, name, allowRevoked }, warnOn(io));
  const { privacy, neighbours } = folder.study;
  io.stdout.write(`linked ${linked} (${privacy}: ${privacyWords(folder.study)})\n`);
  if (neighbours === "trusted") io.stdout.write(`${whatTrustMeans}\n`);
  io.stdout.write(`it must link back with\n${(await folderInvite(folder)) ?? NO_INVITE}\n`);
}

export async function runDeviceAcceptCommand(
  which: string | undefined,
  options: NeighbourOptions,
  io: Console,
): Promise<void> {
  const { state, name, accept = [] } = options;
  const allowRevoked = accept.includes("revoked");
  const { acceptStranger, meantStranger, readFolder, waitingPeers } = await changes();
  const folder = await readFolder(state);
  const waiting = waitingPeers(folder);
  if (which === undefined) {
    const lines = waiting.length > 0 ? describeWaiting(waiting, state).slice(1) : ["no device waits to be linked back"];
    io.stdout.write(`${lines.join("\n")}\n`);
    return;
  }
  const peer = meantStranger(waiting, which);
  await agreeToOpen(folder.study, options, io);
  const linked = await acceptStranger(folder, { peer, name, allowRevoked }, warnOn(io));
  io.stdout.write(`linked ${linked}, which had linked this device; it connects within half a minute\n`);
}

/** A person's yes to an open study: asked for in a terminal. Where nobody can answer, the flag must be given. */
async function agreeToOpen({ privacy }: Study, { accept = [] }: NeighbourOptions, io: Console): Promise<void> {
  if (privacy !== "open" || accept.includes("open")) return;
  const warning = `the study is open: ${privacyWords({ privacy: "open" })}`;
  const answer = await askPerson(io, `${warning}\nlink all the same? (yes or no) `);
  if (answer === undefined) throw new UsageError(`linking in an open study needs --accept open; ${warning}`);
  if (answer.trim().toLowerCase() !== "yes") throw new UsageError("nothing was linked: the answer was not yes");
}

export async function runDeviceUnlinkCommand(which: string, state: string, io: Console): Promise<void> {
  const { readFolder, unlinkPeer } = await changes();
  await unlinkPeer(await readFolder(state), which, warnOn(io));
  io.stdout.write(`unlinked ${which}\n`);
}

export async function runDeviceRelayCommand(choice: string, state: string, { stdout }: Console): Promise<void> {
  if (choice !== "on" && choice !== "off") throw new UsageError(`relay must be on or off, got "${choice}"`);
  const { readFolder, writeSettings } = await changes();
  const folder = await readFolder(state);
  const relay = choice === "on";
  if (relay && folder.listen.length === 0)
    throw new UsageError(`a device that relays must listen somewhere, got no address in ${state}/device.json`);
  await writeSettings(state, { ...folder, relay });
  const when = (await isLocked(state))
    ? `when it is started again: stop it, then fedkm device run --state ${state}`
    : "when it is run";
  const what = relay ? "relays between its neighbours" : "relays for nobody";
  stdout.write(`${folder.name} ${what} ${when}\n`);
}

export async function runDeviceLinksCommand({ state, json }: { state: string; json?: boolean }, io: Console) {
  const { folderInvite, keyFacts, readLinkedFolder, remarksOfFolder, waitingPeers } = await loadFolderFacts();
  const folder = await readLinkedFolder(state);
  const status = lastStatus(state);
  const running = status !== undefined && (await isLocked(state)) ? status.links : [];
  const links = folder.links.map((link) => {
    const now = running.find(({ peer }) => peer === link.peer);
    return { ...link, isConnected: now?.isConnected ?? false, via: now?.via ?? null, failure: now?.failure ?? null };
  });
  const pending = waitingPeers(folder);
  const keys = await keyFacts(folder);
  const facts = { name: folder.name, invite: (await folderInvite(folder)) ?? null, links, pending, keys };
  const lines = [
    ...describeLinks(links),
    ...(await remarksOfFolder(folder)),
    ...describeWaiting(pending, state),
    ...describeKeys(links, keys),
  ];
  const invite = ["", "this device's invite:", facts.invite ?? NO_INVITE];
  printAnswer(io, json, facts, () => [...lines.map(printable), ...invite]);
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
  const failures = links.flatMap(({ name, isConnected, failure }) =>
    isConnected || failure === null ? [] : [`${name}: ${failure.split("\n")[0].slice(0, 200)}`],
  );
  return [...alignColumns([["link", "connected", "peer"], ...rows]), ...failures];
}

function describeWaiting(waiting: readonly Stranger[], state: string): string[] {
  if (waiting.length === 0) return [];
  return [
    "",
    "these devices have linked this one and wait to be linked back:",
    ...waiting.map(({ peer, address, attempts }) => `  ${peer} from ${address}, ${attempts} times`),
    `to link one back: fedkm device accept ${strangerName(waiting[0].peer)} --state ${state}`,
    "Compare the id with its owner first: anybody can ask to be linked.",
  ];
}

/** Neighbours with new keys, those that do not know this device's, and who has revoked whom. */
function describeKeys(links: readonly Link[], { next, behind, revoked }: KeyFacts): string[] {
  const renewed = links.flatMap(({ name, former = [], isAwaited }) => {
    const last = former.at(-1);
    const until = isAwaited ? "; it has not connected with it yet" : "";
    return last === undefined ? [] : [`${name} has a new key since ${last.until}, before: ${last.peer}${until}`];
  });
  const own = [
    ...(next === null ? [] : [`this device has a new key that is not in use yet: ${next}`]),
    ...(behind.length === 0 ? [] : [`these do not know this device's new key yet: ${behind.join(", ")}`]),
  ];
  const revocations = revoked.map(({ signer, peer, reason, isOverruled }) => {
    const because = reason === "" ? "" : `: ${reason}`;
    return `${signer} says that ${peer} is no longer to be trusted${because}${isOverruled ? " (overruled here)" : ""}`;
  });
  const lines = [...renewed, ...own, ...revocations];
  return lines.length > 0 ? ["", ...lines] : [];
}
