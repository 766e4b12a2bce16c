// Loads plug-ins: ES modules in JavaScript or TypeScript, wherever they lie. A plug-in is code and may do what its user may.

import { existsSync } from "node:fs";
import { register } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { noPlugins, type Plugins, withPlugin } from "./plugin.ts";

// The built file also where the sources are run, as in tests: the thread of the hooks cannot read TypeScript.
const hooks = new URL("../../dist/plugins/hooks.js", import.meta.url);

let isRegistered = false;

/** All plug-ins of the given files, in their order. */
export async function loadPlugins(files: readonly string[]): Promise<Plugins> {
  let plugins = noPlugins;
  for (const file of files) plugins = withPlugin(plugins, file, await importPlugin(file));
  return plugins;
}

async function importPlugin(file: string): Promise<Readonly<Record<string, unknown>>> {
  if (!/\.m?[jt]s$/.test(file)) throw new TypeError(`plug-in ${file} must end in .js, .mjs, .ts or .mts`);
  const path = resolve(file);
  if (!existsSync(path)) throw new TypeError(`plug-in ${file} must be a file, got none of that name`);
  if (!isRegistered) register(hooks);
  isRegistered = true;
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`plug-in ${file} cannot be loaded: ${reason}`, { cause: error });
  }
}
