// What the command line uses of a device that runs as a program of its own.

export { AUDIT_FILE, type AuditLine, type AuditReport, appendAudit, readAudit } from "../auditLog.ts";
export { readHistory } from "../historyStore.ts";
export { drawInvite, formatInvite, parseInvite } from "../identity.ts";
export { changeLinks, type Link, readLinksFile, withLink, withoutLink, writeLinksFile } from "../linksFile.ts";
export { isLocked, lockFolder } from "../lock.ts";
export { tryDurability } from "../simulation/durability.ts";
export { backUpFolder, restoreFolder } from "./backup.ts";
export { consentInFolder } from "./consent.ts";
export { type Daemon, startDaemon } from "./daemon.ts";
export { createFolder, type DeviceFolder, readFolder, readRows, writeSettings } from "./folder.ts";
export { everyInterface, invitedAddresses } from "./invited.ts";
export { type KeyFacts, keyFacts } from "./keyFacts.ts";
export { finishChange, readNext, withdrawChange, writeNext } from "./nextFiles.ts";
export type { Log, Notice } from "./notices.ts";
export { clusterSizes, lookAtRows, stayRemarks } from "./openRows.ts";
export { pauseFolder, resumeFolder } from "./paused.ts";
export type { Stranger } from "./pending.ts";
export { type Columns, readColumns, readPoints } from "./points.ts";
export { checkLoopback, freePorts } from "./ports.ts";
export { resetFolder } from "./reset.ts";
export { overruleRevocations, revokedFault, revokePeer } from "./revoke.ts";
export { followByHand, rotateFolder } from "./rotate.ts";
export { rowsFault } from "./rows.ts";
export { type DaemonStatus, type LinkStatus, STATUS_FILE, STATUS_VERSION } from "./status.ts";
