// What the command line uses of a device that runs as a program of its own.

export { AUDIT_FILE, type AuditLine, type AuditReport, appendAudit, readAudit } from "../disk/auditLog.ts";
export { isLocked, lockFolder } from "../disk/folderLock.ts";
export { readHistory } from "../disk/historyStore.ts";
export { drawInvite, formatInvite, parseInvite } from "../disk/identityFile.ts";
export { changeLinks, type Link, readLinksFile, withLink, withoutLink, writeLinksFile } from "../disk/linksFile.ts";
export { tryDurability } from "../simulation/durability.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { consentInFolder } from "./consent.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { createFolder, type DeviceFolder, readFolder, readRows, writeSettings } from "./folder.ts";
export { followByHand, rotateFolder } from "./keyCommands.ts";
export { type KeyFacts, keyFacts } from "./keyFacts.ts";
export { everyInterface, invitedAddresses } from "./machineAddresses.ts";
export { finishChange, readNext, withdrawChange, writeNext } from "./nextFiles.ts";
export type { Log, Notice } from "./notices.ts";
export { resetFolder } from "./ownerFiles.ts";
export { pauseFolder, resumeFolder } from "./paused.ts";
export { type Columns, readColumns, readPoints } from "./points.ts";
export { checkLoopback, freePorts } from "./ports.ts";
export { overruleRevocations, revokedFault, revokePeer } from "./revoke.ts";
export { clusterSizes, lookAtRows, stayRemarks } from "./rowSource.ts";
export { rowsFault } from "./rows.ts";
export { type DaemonStatus, type LinkStatus, STATUS_FILE, STATUS_VERSION } from "./status.ts";
export type { Stranger } from "./strangers.ts";
