// onnxruntime, which runs exported models.

import { createRequire } from "node:module";

/** Undefined where it is not installed; then tests that need it are skipped. */
// biome-ignore lint/suspicious/noExplicitAny: its types are not there where it is not.
export function onnxruntime(): any {
  try {
    const ort = createRequire(import.meta.url)("onnxruntime-web");
    ort.env.wasm.numThreads = 1;
    return ort;
  } catch {
    return undefined;
  }
}
