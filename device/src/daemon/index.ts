// What the command line uses of a device that runs as a program of its own.

export { AUDIT_FILE, type AuditLine, type AuditReport, appendAudit, readAudit } from "../disk/auditLog.ts";
export { isLocked, lockFolder } from "../disk/folderLock.ts";
export { readHistory } from "../disk/historyStore.ts";
export { drawInvite, formatInvite, parseInvite } from "../disk/identityFile.ts";
export { changeLinks, type Link, readLinksFile, withLink, withoutLink, writeLinksFile } from "../disk/linksFile.ts";
export { tryDurability } from "../simulation/durability.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { createFolder, type DeviceFolder, readFolder, readRows, writeSettings } from "./folder.ts";
export {
  followByHand,
  type KeyFacts,
  keyFacts,
  overruleRevocations,
  revokedFault,
  revokePeer,
  rotateFolder,
} from "./keyCommands.ts";
export { checkLoopback, everyInterface, freePorts, invitedAddresses } from "./machineAddresses.ts";
export type { Log, Notice } from "./notices.ts";
export { consentInFolder, pauseFolder, resetFolder, resumeFolder } from "./ownerFiles.ts";
export {
  type Columns,
  clusterSizes,
  lookAtRows,
  readColumns,
  readPoints,
  rowsFault,
  stayRemarks,
} from "./rowSource.ts";
export { type DaemonStatus, type LinkStatus, STATUS_FILE, STATUS_VERSION } from "./status.ts";
export type { Stranger } from "./strangers.ts";
export { finishChange, readNext, withdrawChange, writeNext } from "./studyChange.ts";
