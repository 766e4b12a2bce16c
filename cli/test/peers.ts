// Programs of others that exports are run with: fetched by npm into a folder of their own when a test first needs them,
// since they weigh a hundred megabytes.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/fedkm-peers", import.meta.url));
const versions = { "@duckdb/node-api": "1.5.6-r.1", "onnxruntime-web": "1.30.0" } as const;

/** The package; undefined, with a line that says so, where it can neither be found nor be fetched. */
// biome-ignore lint/suspicious/noExplicitAny: what a package exports is known to the test that uses it.
export function peer(name: keyof typeof versions): any {
  if (!existsSync(join(folder, "node_modules", name))) {
    mkdirSync(folder, { recursive: true });
    const words = [
      "install",
      "--prefix",
      folder,
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `${name}@${versions[name]}`,
    ];
    spawnSync("npm", words, { stdio: "ignore" });
  }
  try {
    return createRequire(join(folder, "package.json"))(name);
  } catch {
    console.log(`skipped: ${name} is not here and could not be fetched with npm`);
    return undefined;
  }
}
