// Loads plug-ins: ES modules in JavaScript or TypeScript, wherever they lie. A plug-in is code and may do what its user may.

import { existsSync } from "node:fs";
import module from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as hooks from "./hooks.ts";
import { noPlugins, type Plugins, withPlugin } from "./plugin.ts";

// The built file also where the sources are run, as in tests: the thread of the hooks cannot read TypeScript.
const builtHooks = new URL("../../dist/plugins/hooks.js", import.meta.url);

/** Node from 22.15 on, which its types do not say yet. */
interface NewerModule {
  registerHooks?(own: typeof hooks): void;
}

let isRegistered = false;

function registerHooks(): void {
  if (isRegistered) return;
  isRegistered = true;
  const { registerHooks: inThisThread }: NewerModule = module as object;
  // Versions before run hooks in a thread of their own, and later ones warn of that.
  if (inThisThread === undefined) module.register(builtHooks);
  else inThisThread(hooks);
}

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
  registerHooks();
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`plug-in ${file} cannot be loaded: ${reason}`, { cause: error });
  }
}
