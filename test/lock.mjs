// npm run lock: gives every optional package of another platform its entry in package-lock.json. npm leaves out those
// that the registry at hand did not hold when it wrote the file, and npm ci then refuses the whole of it.

import { readFileSync, writeFileSync } from "node:fs";

const [, , file = "package-lock.json"] = process.argv;
const lock = JSON.parse(readFileSync(file, "utf8"));

/** In the order npm itself writes, so that npm install leaves the file as it is. */
function sorted(record) {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => a.localeCompare(b, "en")));
}

/** Where a package of this name is found from a folder, as Node looks it up: here, or in any folder above. */
function found(folder, name) {
  const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
  if (path in lock.packages) return path;
  if (folder === "") return undefined;
  // The folder above is the package this one is nested in, or the root.
  return found(folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1)), name);
}

/** What such a package runs on is in its name, as in binding-linux-x64-musl; no field means anywhere, as in npm. */
function platform(name, siblings) {
  const system = /(android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)/.exec(name)?.[1];
  const processor = /-(arm64|arm|ia32|loong64|ppc64|riscv64|s390x|wasm32|x64)(?:-|$)/.exec(name)?.[1];
  if (processor === undefined) throw new Error(`the name must say what the package runs on, got ${name}`);
  const isMusl = name.endsWith("-musl");
  const isGlibc = name.endsWith("-gnu") || `${name}-musl` in siblings;
  return {
    cpu: [processor],
    ...((isMusl || isGlibc) && { libc: [isMusl ? "musl" : "glibc"] }),
    ...(system && { os: [system] }),
  };
}

const added = [];
for (const [folder, { dev, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (found(folder, name) !== undefined) continue;
    if (!/^\d+\.\d+\.\d+/.test(version)) throw new Error(`${name} must be named by an exact version, got ${version}`);
    // Neither address nor hash: npm asks its own registry for this name and version.
    const entry = { ...platform(name, optionalDependencies), ...(dev && { dev }), optional: true };
    lock.packages[`node_modules/${name}`] = { version, ...sorted(entry) };
    added.push(`${name}@${version}`);
  }
}
writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted(lock.packages) }, undefined, 2)}\n`);
console.log(`${file}: ${added.length} optional packages added${["", ...added].join("\n  ")}`);
