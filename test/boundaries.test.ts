// Who may import whom, and what the core may not touch.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Workspace -> the workspaces it may import. Nobody imports the command line or the bench. */
const workspaces: Record<string, readonly string[]> = {
  core: [],
  files: ["@fedkm/core"],
  pictures: ["@fedkm/core"],
  device: ["@fedkm/core", "@fedkm/files"],
  experiments: ["@fedkm/core", "@fedkm/pictures"],
  cli: ["@fedkm/core", "@fedkm/files", "@fedkm/pictures", "@fedkm/device", "@fedkm/experiments"],
  bench: ["@fedkm/core", "@fedkm/files", "@fedkm/pictures", "@fedkm/device"],
};

/** The files of core from the bottom up: a file may use what stands before it, types included. */
const layers = [
  "defaults",
  "matrix",
  "elementary",
  "random",
  "kernel/kernel",
  "kernel/grid",
  "check",
  "graph",
  "spectrum",
  "kernel/js",
  "kernel/exports",
  "kernel/arena",
  "kernel/passes",
  "kernel/wasm-bytes",
  "kernel/module",
  "kernel/pick",
  "kernel/tiny",
  "kernel/codes",
  "kernel/placedPoints",
  "kernel/prepare",
  "kernel/clusters",
  "kernel/assign",
  "kernel/wasm",
  "threads/platform.d",
  "threads/layout",
  "threads/worker",
  "threads/crew",
  "threads/desks",
  "threads/passes",
  "threads/shared",
  "threads/threads",
  "threads/node",
  "threads/browser",
  "traffic",
  "coupling",
  "schedule",
  "options",
  "updateState",
  "update",
  "seeding",
  "freshStarts",
  "updateDevice",
  "kmeans",
  "federated",
  "start",
  "network",
  "objective",
  "fit",
  "measures",
  "methods/method",
  "methods/local",
  "methods/pooled",
  "methods/order",
  "methods/distributed",
  "methods/pooledMeans",
  "methods/consensus",
  "methods/flooding",
  "methods/gradient",
  "methods/coreset",
  "methods/backbone",
  "methods/kfed",
  "methods/fkm",
  "methods/index",
  "choose/asked",
  "choose/cholesky",
  "choose/separation",
  "choose/k",
  "choose/alpha",
  "choose/index",
  "choose/links",
  "datasets",
  "index",
];

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => posix.join(folder, file.replaceAll("\\", "/")));
}

/** Module names a file imports; with `types: false`, only those it needs when it runs. */
function imports(file: string, { types }: { types: boolean }): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|import\("([^"]+)"\)/gm,
  );
  return Array.from(statements)
    .filter(([, typeOnly]) => types || typeOnly === undefined)
    .map(([, , from, bare, dynamic]) => from ?? bare ?? dynamic);
}

/** Comments and texts may name what code may not use. */
function code(file: string): string {
  return readFileSync(join(root, file), "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/"[^"\n]*"|`[^`]*`/g, '""');
}

const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

it("the imports of a file are found, one line or many, types apart", () => {
  expect(imports("core/src/updateDevice.ts", { types: true })).toContain("./matrix.ts");
  expect(imports("core/src/updateDevice.ts", { types: false })).not.toContain("./matrix.ts");
  expect(imports("core/src/index.ts", { types: false })).toContain("./measures.ts");
});

describe("workspaces", () => {
  it("are the ones named here", () => {
    expect(Object.keys(workspaces).sort()).toEqual([...manifest(".").workspaces].sort());
  });

  for (const [workspace, allowed] of Object.entries(workspaces)) {
    it(`${workspace} imports only ${["itself", ...allowed].join(", ")} and its declared dependencies`, () => {
      const declared = Object.keys(manifest(workspace).dependencies ?? {});
      const own = Object.values(workspaces).flat();
      for (const file of sources(`${workspace}/src`)) {
        for (const name of imports(file, { types: true })) {
          if (name.startsWith(".")) {
            const target = relative(join(root, workspace, "src"), join(root, dirname(file), name));
            expect(target.startsWith(".."), `${file} imports ${name}, outside its workspace`).toBe(false);
          } else if (!name.startsWith("node:")) {
            const known = declared.some((dependency) => name === dependency || name.startsWith(`${dependency}/`));
            expect(known, `${file} imports ${name}, which ${workspace}/package.json does not declare`).toBe(true);
            const workspaceOf = own.find((other) => name === other || name.startsWith(`${other}/`));
            if (workspaceOf !== undefined) expect(allowed, file).toContain(workspaceOf);
          }
        }
      }
    });
  }
});

describe("core", () => {
  const files = sources("core/src");

  it("has two dependencies", () => {
    expect(Object.keys(manifest("core").dependencies)).toEqual(["munkres", "pure-rand"]);
  });

  it("is pure: no platform, no clock, no chance, no output", () => {
    const forbidden = /\bnode:|\b(document|window|process|console|Date|performance|setTimeout)\b|Math\.random/;
    // Threads are started by the platform; nothing else in core imports what is particular to Node.
    const platforms = ["core/src/threads/node.ts", "core/src/threads/platform.d.ts"];
    for (const file of files.filter((name) => !platforms.includes(name))) {
      expect(code(file).match(forbidden)?.[0], file).toBeUndefined();
      for (const name of imports(file, { types: true })) expect(name, file).not.toMatch(/^node:/);
    }
  });

  it("imports downwards only, and never its own index", () => {
    const named = files.map((file) => file.slice("core/src/".length, -".ts".length));
    expect([...named].sort()).toEqual([...layers].sort());
    for (const file of files) {
      const layer = layers.indexOf(file.slice("core/src/".length, -".ts".length));
      for (const name of imports(file, { types: true })) {
        if (!name.startsWith(".")) continue;
        const target = posix.join(posix.dirname(file), name).slice("core/src/".length, -".ts".length);
        expect(layers.indexOf(target), `${file} imports ${name}, which stands above it`).toBeLessThan(layer);
      }
    }
  });
});

describe("device", () => {
  it("imports libp2p in one file", () => {
    const users = sources("device/src").filter((file) =>
      imports(file, { types: true }).some((name) => /libp2p\b(?!\.ts)|^@multiformats\//.test(name)),
    );
    expect(users).toEqual(["device/src/libp2p.ts"]);
  });
});

describe("a device's loop", () => {
  const platform =
    /^device\/src\/(libp2p|store|record|files|lock|identity|links|simulation\/durability)\.ts$|^device\/src\/(daemon|link)\//;
  const files = sources("device/src").filter((file) => !platform.test(file));

  it("knows no platform, no wall clock and no chance, so that it runs in browsers and simulations", () => {
    expect(files).toContain("device/src/device.ts");
    for (const file of files) {
      expect(code(file).match(/\b(Date|Buffer|document|window)\b|Math\.random/)?.[0], file).toBeUndefined();
      for (const name of imports(file, { types: false })) expect(name, file).not.toMatch(/^node:/);
    }
  });
});

describe("every source file", () => {
  const all = Object.keys(workspaces).flatMap((workspace) => sources(`${workspace}/src`));

  it("begins with a line that says what lives there", () => {
    for (const file of all) {
      const [first, second] = readFileSync(join(root, file), "utf8").split("\n");
      const line = first.startsWith("#!") ? second : first;
      expect(line, file).toMatch(/^\/\/ .{20}/);
    }
  });

  it("has at most 300 lines", () => {
    for (const file of all)
      expect(readFileSync(join(root, file), "utf8").split("\n").length, file).toBeLessThanOrEqual(300);
  });

  it("uses process only where the outside world begins", () => {
    // The worker of experiments is the main file of a process.
    const outside = /^(cli|bench)\/|^experiments\/src\/worker\.ts$/;
    for (const file of all.filter((name) => !outside.test(name))) {
      expect(code(file), file).not.toMatch(/\bprocess\b/);
    }
  });
});
