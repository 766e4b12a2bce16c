// Files in and labels out, in Node: all that works everywhere, and the file system.

export * from "./everywhere.ts";
export { expandPatterns } from "./node/glob.ts";
export { labelFile, nameOfLabelled, readBounds, readLayout, readLinks, readTable } from "./node/read.ts";
export { systemReason } from "./node/reason.ts";
