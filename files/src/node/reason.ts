// What the system says when it refuses.

import { getSystemErrorMap } from "node:util";

/** What the system said, in its words and without its codes. */
export function systemReason(error: unknown): string {
  const number = error instanceof Error && "errno" in error ? Number(error.errno) : Number.NaN;
  return getSystemErrorMap().get(number)?.[1] ?? String(error);
}
