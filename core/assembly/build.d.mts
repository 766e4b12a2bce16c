// What build.mjs exports, for the test that compiles the kernel again.

/** The module in base64. */
export function compile(): Promise<string>;
