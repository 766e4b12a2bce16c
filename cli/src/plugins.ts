// --plugin: methods, data sets, graphs and measures from the user's own files.

import type { Plugins } from "@fedkm/experiments";
import type { Command } from "commander";
import { parseNames } from "./listArguments.ts";

/** As typed: what is not said is not there. */
export interface PluginFlags {
  readonly plugin?: readonly string[];
}

/** `adds` says what of a plug-in the command uses. */
export function addPluginOption(command: Command, adds: string): Command {
  return command.option(
    "--plugin <file>",
    `adds ${adds} from a module in JavaScript, TypeScript or Python, which runs as your own code; may be repeated`,
    (text: string, before: readonly string[] = []) => [...before, ...parseNames(text)],
  );
}

/** What is needed to load them is loaded only where there are any. */
export async function pluginsOf({ plugin = [] }: PluginFlags): Promise<Plugins> {
  if (plugin.length === 0) return { methods: {}, datasets: {}, graphs: {}, measures: {} };
  const { loadExperimentPlugins } = await import("@fedkm/experiments");
  return loadExperimentPlugins(plugin);
}
