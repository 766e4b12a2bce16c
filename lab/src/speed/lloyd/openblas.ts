// Python with each set of OpenBLAS kernels that this processor can run, so that the fastest peer can be told.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ONE_THREAD, type Python } from "../../python.ts";
import { type Program, startProgram } from "./program.ts";

export interface Blas {
  readonly name: string;
  readonly program: Program;
}

/**
 * An OpenBLAS older than the processor does not know it and falls back to SSE3, at half the speed; one that knows it
 * takes one of the others, so they are asked for by name.
 */
function coreTypes(): { name: string; settings: NodeJS.ProcessEnv }[] {
  const flags = existsSync("/proc/cpuinfo") ? readFileSync("/proc/cpuinfo", "utf8") : "";
  const known = [
    { flag: /\bavx2\b/, name: "AVX2", type: "Haswell" },
    { flag: /\bavx512vl\b/, name: "AVX-512", type: "SkylakeX" },
  ].filter(({ flag }) => flag.test(flags));
  const named = known.map(({ name, type }) => ({ name, settings: { OPENBLAS_CORETYPE: type } }));
  return [{ name: "as installed", settings: {} }, ...named];
}

/** None without scikit-learn and FAISS; only one if it has to be quick, the oldest that is asked for by name. */
export function startBlas({ command, modules }: Python, isQuick: boolean): Blas[] {
  if (!modules.has("sklearn") && !modules.has("faiss")) return [];
  const script = fileURLToPath(new URL("./lloyd.py", import.meta.url));
  const types = isQuick ? coreTypes().slice(0, 2).slice(-1) : coreTypes();
  return types.map(({ name, settings }) => ({
    name,
    program: startProgram(command, [script], { ...ONE_THREAD, ...settings }),
  }));
}

export function stopBlas(blas: readonly Blas[]): void {
  for (const { program } of blas) program.stop();
}
