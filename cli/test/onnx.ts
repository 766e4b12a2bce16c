// onnxruntime, which runs exported models.

/** Undefined where it is not installed; then tests that need it are skipped. */
export async function onnxruntime(): Promise<typeof import("onnxruntime-web") | undefined> {
  const ort = await import("onnxruntime-web").catch(() => undefined);
  if (ort !== undefined) ort.env.wasm.numThreads = 1;
  return ort;
}
