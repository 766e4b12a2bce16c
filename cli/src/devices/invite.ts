// The invite of a device as commands show it, with addresses that others can dial.

import { type DeviceFolder, formatInvite, invitedAddresses, isLocked } from "@fedkm/device/daemon";
import { lastStatus } from "./state.ts";

/** What commands say where there is no invite. */
export const NO_INVITE =
  "none yet: the device listens on any free port, which is known while it runs (then see fedkm device links)";

/** Undefined: not known before the device runs. */
export async function inviteOf(folder: DeviceFolder): Promise<string | undefined> {
  const status = lastStatus(folder.path);
  const addresses = invitedAddresses(folder, (await isLocked(folder.path)) ? status?.addresses : undefined);
  return addresses && formatInvite({ peer: folder.identity.peer, addresses });
}
