// fedkm device links: who is linked, who asked, and what to give to a new neighbour.

import { isLocked, readFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { inviteOf, lastStatus } from "../../devices/state.ts";
import { alignColumns } from "../../table.ts";

export async function listLinks(
  { state, json }: { state: string; json?: boolean },
  { stdout }: Console,
): Promise<void> {
  const folder = await readFolder(state);
  const status = lastStatus(state);
  const connected = new Set(
    status && (await isLocked(state))
      ? status.links.filter(({ isConnected }) => isConnected).map(({ peer }) => peer)
      : [],
  );
  const links = folder.links.map((link) => ({ ...link, isConnected: connected.has(link.peer) }));
  const pending = (status?.pending ?? []).filter(({ peer }) => links.every((link) => link.peer !== peer));
  const facts = { name: folder.name, invite: inviteOf(folder), links, pending };
  stdout.write(json ? `${JSON.stringify(facts, undefined, 2)}\n` : `${describe(facts).join("\n")}\n`);
}

interface Facts {
  readonly invite: string;
  readonly links: readonly { name: string; peer: string; isConnected: boolean; addresses: readonly string[] }[];
  readonly pending: readonly { peer: string; address: string; attempts: number }[];
}

function describe({ invite, links, pending }: Facts): string[] {
  const linked = alignColumns([
    ["link", "connected", "peer"],
    ...links.map(({ name, isConnected, peer }) => [name, isConnected ? "yes" : "no", peer]),
  ]);
  const strangers = pending.map(({ peer, address, attempts }) => `  ${peer} from ${address}, ${attempts} times`);
  return [
    ...(links.length > 0 ? linked : ["no links yet"]),
    ...(strangers.length > 0
      ? ["", "not linked, but tried to connect (fedkm device link to accept):", ...strangers]
      : []),
    "",
    "this device's invite:",
    invite,
  ];
}
