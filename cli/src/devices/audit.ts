// What commands write into the audit log of a device, and how they put it into words. A log that cannot be written
// does not undo what was done.

import { type AuditLine, appendAudit } from "@fedkm/device/daemon";
import type { Console } from "../console.ts";

type Entry = Parameters<typeof appendAudit>[1][number];

export async function noteInLog(
  state: string,
  event: Entry["event"],
  fields: Entry["fields"],
  stderr: Console["stderr"],
): Promise<void> {
  try {
    await appendAudit(state, [{ at: new Date(), event, fields }]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    stderr.write(`fedkm: warning: the audit log was not written: ${reason}\n`);
  }
}

/** The facts of a line, each with its name. */
export function auditFacts({ at, event, before, ...fields }: AuditLine): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(" ") : String(value);
    return value === null || text === "" ? [] : [`${name} ${text}`];
  });
}
