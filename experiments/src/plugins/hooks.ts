// How the files of plug-ins are loaded: TypeScript with its types erased, and @fedkm packages as the running ones.

import { readFileSync } from "node:fs";
import { createRequire, type LoadHook, type ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import type * as eraser from "@swc/wasm-typescript";

const require = createRequire(import.meta.url);

/** Wherever a plug-in lies, it shares the packages of whoever loads it: two copies would not know each other's data. */
const resolvePlugin: ResolveHook = (specifier, context, nextResolve) =>
  nextResolve(specifier, specifier.startsWith("@fedkm/") ? { ...context, parentURL: import.meta.url } : context);

/** It does not wait for anything: newer versions of Node ask for hooks that answer at once. */
const loadPlugin: LoadHook = (url, context, nextLoad) => {
  if (!/^file:.*\.m?ts$/.test(url)) return nextLoad(url, context);
  // Four megabytes that nobody else needs.
  const { transformSync }: typeof eraser = require("@swc/wasm-typescript");
  const file = fileURLToPath(url);
  try {
    const { code } = transformSync(readFileSync(file, "utf8"), { mode: "strip-only", filename: file, module: true });
    return { format: "module", shortCircuit: true, source: code };
  } catch (error) {
    // The eraser throws objects that are no errors.
    const { message, startLine } = error as { message?: string; startLine?: number };
    throw new SyntaxError(`${message ?? String(error)}${startLine === undefined ? "" : ` (line ${startLine})`}`);
  }
};

// As Node calls them.
export { loadPlugin as load, resolvePlugin as resolve };
