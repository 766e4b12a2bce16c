// What the command line uses of a device that runs as a program of its own.

export { type AuditLine, type AuditReport, auditLogFacts, readAudit } from "../disk/auditLog.ts";
export type { Disk } from "../disk/disk.ts";
export { isLocked, lockFolder } from "../disk/folderLock.ts";
export { readHistory } from "../disk/historyStore.ts";
export { type Link, linksFileWithout, readLinksFile, writeLinksFile } from "../disk/linksFile.ts";
export { openStore } from "../disk/store.ts";
export { drawInvite, parseInvite } from "../keys/invite.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { clusterNames, LONGEST_NAME, nameCluster } from "./clusterNames.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { deviceView } from "./deviceView.ts";
export { evidenceNow } from "./evidence.ts";
export {
  createFolder,
  createKeyFolder,
  type DeviceFolder,
  readFolder,
  readFolderRows,
  writeSettings,
} from "./folder.ts";
export { type Finding, type Health, healthOf } from "./health.ts";
export { localNetworkName, localNetworkOfPoints, type NetworkData, prepareLocalNetwork } from "./localNetwork.ts";
export { everyMachineInterface, folderInvite, freeMachinePorts } from "./machineAddresses.ts";
export type { Log, Notice } from "./notices.ts";
export {
  acceptStranger,
  changeMember,
  followKeyInFolder,
  type KeyFacts,
  keyFacts,
  linkPeer,
  pauseDevice,
  resetDevice,
  revokePeer,
  rotateKey,
  strangerName,
  unlinkPeer,
  waitingPeers,
} from "./ownerChanges.ts";
export { BOOKS_FILE, consentInFolder } from "./ownerFiles.ts";
export { performAction } from "./pageActions.ts";
export {
  type Columns,
  lookAtRowSource,
  rowSourceClusterSizes,
  rowSourceColumns,
  rowSourcePoints,
  rowSourceRemarks,
  rowsFault,
} from "./rowSource.ts";
export { SERVICE_UNIT_FILE, serviceUnit } from "./serviceUnit.ts";
export { snapshotFolders, snapshotReader } from "./snapshot.ts";
export { type DaemonStatus, type LinkStatus, linkRemarks, STATUS_FILE } from "./status.ts";
export { hasDaemonSettled, lastStatus, statusReader } from "./statusFile.ts";
export type { Stranger } from "./strangers.ts";
export { finishChangeInFolder, readNextInFolder, withdrawChangeInFolder, writeNextInFolder } from "./studyChange.ts";
export { draftStudyFile, foundedInFile, readStudyText, type StudyDraft, studyFileBounds } from "./studyFile.ts";
