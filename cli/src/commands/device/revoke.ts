// fedkm device revoke: unlinks a peer here, and says to the whole network that it is no longer to be trusted.

import { readFolder, revokePeer } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { noteInLog } from "../../devices/audit.ts";

export interface RevokeOptions {
  readonly state: string;
  readonly reason?: string;
}

export async function revokeDevice(
  which: string,
  { state, reason = "" }: RevokeOptions,
  { stdout, stderr }: Console,
): Promise<void> {
  const { identity, name } = await readFolder(state);
  const { peer, unlinked, isSelf } = await revokePeer(state, which, reason, new Date());
  const fields = { peer, signer: identity.peer, reason, unlinked: unlinked ?? null };
  await noteInLog(state, "revoked", fields, stderr);
  const lines = isSelf
    ? [
        `${name} has revoked its own key: whoever has linked it unlinks it when it hears so`,
        "run it until then, and then delete its folder",
      ]
    : [
        `revoked ${unlinked ?? peer}${unlinked === undefined ? "" : ", which is unlinked here"}`,
        "this device's neighbours unlink it when they hear so, and the notice travels on from device to device",
      ];
  stdout.write(`${lines.join("\n")}\n`);
}
