// What commands use that only look at a device; it loads neither libp2p nor the algorithm, nor a study, which is YAML.

export { isLocked, type LockAnswer } from "../disk/folderLock.ts";
export type { Link } from "../disk/linksFile.ts";
export { privacyWords, whatTrustMeans } from "../study/promises.ts";
export { evidenceNow } from "./evidence.ts";
export type { KeyFacts } from "./folderFacts.ts";
export { type Health, healthOf } from "./health.ts";
export { lastStatus } from "./lastStatus.ts";
export type { Notice } from "./notices.ts";
export type { DaemonStatus, LinkStatus } from "./status.ts";
export { type Stranger, strangerName } from "./strangers.ts";

/** What a folder says of links and keys, which the status does not need. */
export async function loadFolderFacts() {
  const { keyFacts, readLinkedFolder, remarksOfFolder, waitingPeers } = await import("./folderFacts.ts");
  const { folderInvite } = await import("./machineAddresses.ts");
  return { folderInvite, keyFacts, readLinkedFolder, remarksOfFolder, waitingPeers };
}
