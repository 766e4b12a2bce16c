/** Thrown for arguments that cannot be meant. */
export declare class UsageError extends Error {
  readonly name = "UsageError";
}
/** Thrown where the answer is that a device does not run. */
export declare class NotRunning extends Error {
  readonly name = "NotRunning";
}
export declare function exitCode(error: unknown): number;
export declare function messageLine(error: unknown): string;
