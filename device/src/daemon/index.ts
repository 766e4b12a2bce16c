// What the command line uses of a device that runs as a program of its own.

export { type AuditLine, type AuditReport, auditFacts, readAudit } from "../disk/auditLog.ts";
export type { Disk } from "../disk/disk.ts";
export { isLocked, lockFolder } from "../disk/folderLock.ts";
export { readHistory } from "../disk/historyStore.ts";
export { drawInvite, parseInvite } from "../disk/identityFile.ts";
export { type Link, readLinksFile, withoutLink, writeLinksFile } from "../disk/linksFile.ts";
export { openStore } from "../disk/store.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { clusterNames, LONGEST_NAME, nameCluster } from "./clusterNames.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { createFolder, type DeviceFolder, readFolder, readRows, writeSettings } from "./folder.ts";
export { deviceName, type NetworkData, planPoints, prepareFolders } from "./localNetwork.ts";
export { everyInterface, folderInvite, freePorts } from "./machineAddresses.ts";
export type { Log, Notice } from "./notices.ts";
export {
  acceptPeer,
  followPeer,
  type KeyFacts,
  keyFacts,
  linkPeer,
  pauseDevice,
  resetDevice,
  revokePeer,
  rotateKey,
  shortName,
  unlinkPeer,
  waitingPeers,
} from "./ownerChanges.ts";
export { consentInFolder } from "./ownerFiles.ts";
export {
  type Columns,
  clusterSizes,
  lookAtRows,
  readColumns,
  readPoints,
  rowsFault,
  stayRemarks,
} from "./rowSource.ts";
export { type DeviceSnapshot, foldersById, snapshotReader } from "./snapshot.ts";
export { type DaemonStatus, type LinkStatus, STATUS_FILE } from "./status.ts";
export { hasSettled, lastStatus, statusReader } from "./statusFile.ts";
export type { Stranger } from "./strangers.ts";
export { finishChange, readNext, withdrawChange, writeNext } from "./studyChange.ts";
export { draftStudy, featureBounds, readStudyText, type StudyDraft } from "./studyFile.ts";
