// What the command line uses of a device that runs as a program of its own.

export { type AuditLine, type AuditReport, auditFacts, readAudit } from "../auditLog.ts";
export { readHistory } from "../historyStore.ts";
export { drawInvite, parseInvite } from "../identity.ts";
export { type Link, readLinks, withoutLink, writeLinks } from "../linksFile.ts";
export { isLocked, lockFolder } from "../lock.ts";
export { tryDurability } from "../simulation/durability.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { clusterNames, LONGEST_NAME, nameCluster } from "./clusterNames.ts";
export { consentInFolder } from "./consent.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { createFolder, type DeviceFolder, readFolder, readRows, writeSettings } from "./folder.ts";
export { everyInterface, folderInvite } from "./invited.ts";
export { type KeyFacts, keyFacts } from "./keyFacts.ts";
export { hasSettled, lastStatus, statusReader } from "./lastStatus.ts";
export { deviceName, type NetworkData, planPoints, prepareFolders } from "./localNetwork.ts";
export { finishChange, readNext, withdrawChange, writeNext } from "./nextFiles.ts";
export type { Log, Notice } from "./notices.ts";
export { clusterSizes, lookAtRows, stayRemarks } from "./openRows.ts";
export {
  acceptPeer,
  followPeer,
  linkPeer,
  pauseDevice,
  resetDevice,
  revokeNeighbour,
  rotateKey,
  shortName,
  unlinkPeer,
  waitingPeers,
} from "./ownerChanges.ts";
export type { Stranger } from "./pending.ts";
export { type Columns, readColumns, readPoints } from "./points.ts";
export { checkLoopback, freePorts } from "./ports.ts";
export { revokePeer } from "./revoke.ts";
export { rotateFolder } from "./rotate.ts";
export { rowsFault } from "./rows.ts";
export { type DeviceSnapshot, foldersById, snapshotReader } from "./snapshot.ts";
export { type DaemonStatus, type LinkStatus, STATUS_FILE } from "./status.ts";
export { boundsOf, draftStudy, readStudyText, type StudyDraft } from "./studyFile.ts";
