// What went wrong, in the words of whatever was thrown.

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Every attempt has a temporary file of its own; the reason is the same, and its words should be. */
export function writeReason(error: unknown): string {
  return reasonOf(error).replace(/\.[0-9a-f]{12}\.tmp/g, "");
}
