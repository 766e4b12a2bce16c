// node deploy/pack.mjs FOLDER: packs every workspace that is published into a folder, from which npm installs them.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = resolve(process.argv[2] ?? "packs");
const manifest = (path) => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
const published = manifest(".").workspaces.filter((workspace) => manifest(workspace).private !== true);
mkdirSync(folder, { recursive: true });
const named = published.flatMap((workspace) => ["--workspace", workspace]);
const { status } = spawnSync("npm", ["pack", "--silent", ...named, "--pack-destination", folder], {
  cwd: root,
  stdio: ["ignore", "ignore", "inherit"],
});
process.exitCode = status ?? 1;
