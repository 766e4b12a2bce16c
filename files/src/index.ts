// Files in and labels out, where there is no file system: tables, links and bounds from Blobs. Nothing here needs Node.

export { labelFile, readBounds, readLayout, readLinks, readTable } from "./browser/read.ts";
export * from "./everywhere.ts";
