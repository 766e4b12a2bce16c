// What the command line uses of a device that runs as a program of its own.

export { type AuditLine, type AuditReport, auditLineHash, auditLogFacts, readAudit } from "../disk/auditLog.ts";
export type { Disk } from "../disk/disk.ts";
export { isLocked, lockFolder } from "../disk/folderLock.ts";
export { readHistory } from "../disk/historyStore.ts";
export { type Link, linksFileWithout, readLinksFile, writeLinksFile } from "../disk/linksFile.ts";
export { openStore } from "../disk/store.ts";
export type { Identity } from "../keys/peer.ts";
export { drawInvite, parseInvite } from "../keys/peer.ts";
export { isSignedBy, signStatement } from "../keys/statements.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { clusterNames, LONGEST_NAME, nameCluster } from "./clusterNames.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { runProcesses, type Statuses } from "./deviceProcesses.ts";
export { deviceView } from "./deviceView.ts";
export { evidenceNow } from "./evidence.ts";
export {
  createFolder,
  createKeyFolder,
  type DeviceFolder,
  foundedInFile,
  readFolder,
  writeSettings,
} from "./folder.ts";
export {
  type KeyFacts,
  keyFacts,
  waitingPeers,
} from "./folderFacts.ts";
export { folderModel } from "./folderModel.ts";
export { type Finding, type Health, healthOf } from "./health.ts";
export { lastStatus, STATUS_FILE } from "./lastStatus.ts";
export { localNetworkName, localNetworkOfPoints, type NetworkData, prepareLocalNetwork } from "./localNetwork.ts";
export { logOutput } from "./logOutput.ts";
export { everyMachineInterface, folderInvite, freeMachinePorts } from "./machineAddresses.ts";
export type { Log, Notice } from "./notices.ts";
export {
  acceptInFolder,
  acceptStranger,
  changeMember,
  followKeyInFolder,
  linkPeer,
  meantStranger,
  pauseDevice,
  proposeInFolder,
  resetDevice,
  revokePeer,
  rotateKey,
  unlinkPeer,
} from "./ownerChanges.ts";
export { approveInFolder, BOOKS_FILE, consentInFolder, readApproval } from "./ownerFiles.ts";
export { performAction } from "./pageActions.ts";
export {
  type Columns,
  lookAtRowSource,
  readFolderRows,
  rowSourceColumns,
  rowSourcePoints,
  rowSourceRemarks,
  rowSourceStatistics,
} from "./rowSource.ts";
export { SERVICE_UNIT_FILE, serviceUnit } from "./serviceUnit.ts";
export { snapshotFolders, snapshotReader } from "./snapshot.ts";
export type { DaemonStatus, LinkStatus } from "./status.ts";
export { hasDaemonSettled, statusReader } from "./statusFile.ts";
export type { Stranger } from "./strangers.ts";
export { finishChangeInFolder, readNextInFolder, withdrawChangeInFolder } from "./studyChange.ts";
export { draftStudyFile, readTextFile, type StudyDraft, studyFileBounds } from "./studyFile.ts";
