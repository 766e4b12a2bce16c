// Builds the pages into site/, unless they are newer than everything they are made of.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const web = import.meta.dirname;
const sources = [
  ...[
    "src",
    "fonts",
    "index.html",
    "playground.html",
    "dashboard.html",
    "vite.config.ts",
    "svelte.config.js",
    "package.json",
  ],
  ...["core", "files", "pictures", "tables"].map((workspace) => `../${workspace}/dist`),
  "../package-lock.json",
];

/** When a file, or the newest one below a folder, was written. */
function written(path) {
  const about = statSync(path, { throwIfNoEntry: false });
  if (!about?.isDirectory()) return about?.mtimeMs ?? 0;
  return Math.max(0, ...readdirSync(path).map((name) => written(join(path, name))));
}

const site = statSync(join(web, "site/index.html"), { throwIfNoEntry: false });
const newest = Math.max(...sources.map((source) => written(join(web, source))));
if (site !== undefined && site.mtimeMs > newest) console.log("web: unchanged");
else await build({ root: web, logLevel: "warn" });
