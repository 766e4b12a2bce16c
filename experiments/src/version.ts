// What a manifest names of the code that was run: its version, the packages it stands on, and the commit of a checkout.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

function packageFile(): { readonly version: string; readonly dependencies: { readonly [name: string]: string } } {
  return JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
}

/** All workspaces have the same. */
export function version(): string {
  return packageFile().version;
}

/** The dependencies, which are pinned to one version each. */
export function packages(): { readonly [name: string]: string } {
  return packageFile().dependencies;
}

/** undefined: an installed package, or no git. Somebody else's repository around an installed package does not count. */
export function commit(): string | undefined {
  const folder = fileURLToPath(root);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    if (relative(git("rev-parse", "--show-toplevel"), folder) !== "experiments") return undefined;
    const changed = git("status", "--porcelain", "--untracked-files=no") !== "";
    return `${git("rev-parse", "HEAD")}${changed ? " with changes" : ""}`;
  } catch {
    return undefined;
  }
}
