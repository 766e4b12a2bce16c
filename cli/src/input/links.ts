// --graph: a rule, a graph of a plug-in, or a file of links.

import { existsSync } from "node:fs";
import { graph } from "@fedkm/core";
import type { Plugins } from "@fedkm/experiments";
import { readLinks } from "@fedkm/files";
import { isLinkRule, type LinksRequest, linkRules } from "@fedkm/tables";
import { UsageError } from "../failure.ts";

export function linksOf(spec: string, plugged: Plugins["graphs"] = {}): LinksRequest {
  const [name, ...texts] = spec.split(":");
  if (Object.hasOwn(plugged, name)) {
    const text = texts.join(":");
    return { name: spec, links: (names, seed) => plugged[name]({ devices: names.length, seed, text }) };
  }
  if (isLinkRule(spec)) return spec;
  if (!existsSync(spec)) {
    const rules = [...linkRules, ...Object.keys(plugged)].join(", ");
    throw new UsageError(`--graph must be ${rules} or a file of links, got "${spec}"`);
  }
  return { name: spec, links: async (names) => graph(names.length, await readLinks(spec, names)) };
}
