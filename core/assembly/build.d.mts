// What build.mjs exports, for the test that compiles the kernel again.

/** The module with the exports of a file, in base64. */
export function compile(entry: "index.ts" | "tiny/index.ts"): Promise<string>;
