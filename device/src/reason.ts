// What went wrong, in the words of whatever was thrown.

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
