// Who may import whom, and what the core may not touch.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { withDrawnParts } from "./architecture.ts";
import { cycles, importGraph, imports, manifest, ROOF, roomGraph, root, sources } from "./imports.ts";
import { packages } from "./rooms.ts";

/** Workspace -> the workspaces it may import. */
const workspaces = Object.fromEntries(
  Object.entries(packages).map(([name, own]) => [name, own.imports.map((other) => `@fedkm/${other}`)]),
);

/** Comments and texts may name what code may not use. */
function code(file: string): string {
  return readFileSync(join(root, file), "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/"[^"\n]*"|`[^`]*`/g, '""');
}

it("the imports of a file are found, one line or many, types apart", () => {
  expect(imports("core/src/update/update.ts", { types: true })).toContain("../kernel/kernel.ts");
  expect(imports("core/src/update/update.ts", { types: false })).not.toContain("../kernel/kernel.ts");
  expect(imports("core/src/index.ts", { types: false })).toContain("./measures/measures.ts");
});

describe("the import graph", () => {
  it("finds cycles, longer ones and a file that imports itself too", () => {
    const graph = new Map(Object.entries({ a: ["b"], b: ["c"], c: ["b", "d"], d: [], e: ["e"], f: ["a"] }));
    expect(cycles(graph).map((group) => group.sort())).toEqual([["b", "c"], ["e"]]);
  });

  it("has no cycles, types included", () => {
    const files = Object.keys(workspaces).flatMap((workspace) => sources(`${workspace}/src`));
    const graph = importGraph(files);
    const inside = [...graph.values()].reduce((sum, targets) => sum + targets.length, 0);
    const between = Object.keys(workspaces).map((workspace) => {
      const names = sources(`${workspace}/src`).flatMap((file) => imports(file, { types: true }));
      const own = names.filter((name) => name.startsWith("@fedkm/"));
      const counted = [...new Set(own)].sort().map((name) => {
        return `${name.slice("@fedkm/".length)} ${own.filter((other) => other === name).length}`;
      });
      return `  ${workspace.padEnd(12)} -> ${counted.join(", ") || "nothing of ours"}`;
    });
    const found = cycles(graph);
    console.log(
      `${files.length} source files, ${inside} imports inside workspaces, ${found.length} cycles (types included)\n` +
        `imports between workspaces:\n${between.join("\n")}`,
    );
    expect(found).toEqual([]);
  });
});

describe("workspaces", () => {
  it("are the ones named here", () => {
    expect(Object.keys(workspaces).sort()).toEqual([...manifest(".").workspaces].sort());
  });

  for (const [workspace, allowed] of Object.entries(workspaces)) {
    it(`${workspace} imports only ${["itself", ...allowed].join(", ")} and its declared dependencies`, () => {
      const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest(workspace);
      // Pages are bundled: what only they import is needed to build them, not to run what is published.
      const installed = { ...dependencies, ...peerDependencies };
      const declared = Object.keys(workspace === "web" ? { ...installed, ...devDependencies } : installed);
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

describe.each(Object.entries(packages).filter(([, { rooms }]) => rooms !== undefined))(
  "the folders of %s",
  (name, own) => {
    const graph = roomGraph(name);
    const rooms = own.rooms ?? {};

    it("are those of the table, and import what it says", () => {
      const actual = Object.fromEntries([...graph].map(([room, targets]) => [room, [...targets].sort()]));
      const table = Object.fromEntries(
        Object.entries(rooms).map(([room, { imports = [] }]) => [room, [...imports].sort()]),
      );
      delete actual[ROOF];
      expect(actual).toEqual(table);
    });

    it("form no cycle, types included", () => {
      expect(cycles(graph)).toEqual([]);
    });
  },
);

describe("docs/architecture.md", () => {
  it("shows the folders as the table has them", async () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    // npx vitest run test/boundaries.test.ts -u draws them anew.
    await expect(withDrawnParts(page)).toMatchFileSnapshot(join(root, "docs/architecture.md"));
  });
});

describe("core", () => {
  const files = sources("core/src");

  it("has two dependencies", () => {
    expect(Object.keys(manifest("core").dependencies)).toEqual(["munkres", "pure-rand"]);
  });

  it("is pure: no platform, no clock, no chance, no output but one warning", () => {
    const forbidden = /\bnode:|\b(document|window|process|console|Date|performance|setTimeout)\b|Math\.random/;
    // Workers are started by the platform; nothing else in core imports what is particular to it.
    const hosts = ["node", "browser", "nodeWorker", "browserWorker"].map((name) => `core/src/async/${name}.ts`);
    const platforms = ["core/src/kernel/threads/node.ts", "core/src/kernel/threads/platform.d.ts", ...hosts];
    for (const file of files.filter((name) => !platforms.includes(name))) {
      const text = code(file);
      // A page that forbids WebAssembly hears why it is slow.
      const rest = file === "core/src/kernel/module.ts" ? text.replace(/\bconsole(?=\.warn|: \{ warn)/g, "") : text;
      expect(rest.match(forbidden)?.[0], file).toBeUndefined();
      for (const name of imports(file, { types: true })) expect(name, file).not.toMatch(/^node:/);
    }
  });
});

describe("files", () => {
  /** The packages that are installed with a package, and with those in turn. */
  function tree(folder: string, found = new Set<string>()): Set<string> {
    const { dependencies = {}, optionalDependencies = {} } = manifest(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (found.has(name)) continue;
      found.add(name);
      const nested = join(folder, "node_modules", name);
      tree(existsSync(join(root, nested)) ? nested : join("node_modules", name), found);
    }
    return found;
  }
  const isNetwork = (name: string) => /libp2p|multiformats/.test(name);

  it("has no network among all that is installed with it", () => {
    const packages = [...tree("files")];
    expect(packages).toContain("hyparquet");
    expect(packages.filter(isNetwork)).toEqual([]);
    expect([...tree("device")].filter(isNetwork)).toContain("libp2p");
  });
});

describe("device", () => {
  it("imports libp2p in two files: the node, and the network over it", () => {
    const users = sources("device/src").filter((file) =>
      imports(file, { types: true }).some((name) => /libp2p\b(?!\.ts)|^@multiformats\//.test(name)),
    );
    expect(users).toEqual(["device/src/links/libp2pNetwork.ts", "device/src/links/node.ts"]);
  });
});

describe("cli", () => {
  const files = sources("cli/src");
  const commandOf = (file: string) => /^cli\/src\/commands\/([^/]+)\//.exec(file)?.[1];

  it("has one folder for each command, with what may be asked in command.ts", () => {
    const named = files.filter((file) => file.endsWith("/command.ts")).map(commandOf);
    const folders = new Set(files.map(commandOf).filter((name) => name !== undefined));
    expect(named.sort()).toEqual([...folders].sort());
  });

  it("has commands that never import each other, and shared parts that never import a command", () => {
    for (const file of files.filter((name) => name !== "cli/src/program.ts")) {
      for (const name of imports(file, { types: true }).filter((own) => own.startsWith("."))) {
        const target = commandOf(posix.join(posix.dirname(file), name));
        expect([undefined, commandOf(file)], `${file} imports ${name}`).toContain(target);
      }
    }
  });
});

describe("a device's loop", () => {
  const platform =
    /^device\/src\/((daemon|disk|links)\/|keys\/(nodeKeys|nodeSecrets|statements)\.ts|simulation\/durability\.ts)/;
  const files = sources("device/src").filter((file) => !platform.test(file));

  it("knows no platform, no wall clock and no chance, so that it runs in browsers and simulations", () => {
    expect(files).toContain("device/src/loop/personalLoop.ts");
    for (const file of files) {
      expect(code(file).match(/\b(Date|Buffer|document|window)\b|Math\.random/)?.[0], file).toBeUndefined();
      for (const name of imports(file, { types: false })) expect(name, file).not.toMatch(/^node:/);
    }
  });
});

describe("pictures", () => {
  it("needs neither Node nor a document of its own, except for what is imported from its node.ts", () => {
    const seen = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const name of imports(file, { types: false })) {
        if (name.startsWith(".")) visit(posix.join(posix.dirname(file), name));
        else expect(name, file).toMatch(/^@fedkm\/core(\/release)?$/);
      }
    };
    visit("pictures/src/index.ts");
    expect(seen).toContain("pictures/src/palette.ts");
    expect(seen).not.toContain("pictures/src/files.ts");
  });
});

describe("the index of docs/architecture.md", () => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const rows = Array.from(page.matchAll(/^\| ([^|]*\?) *\| \[([^\]]+)\]\(\.\.\/([^)]+)\) *\| `(\w+)` *\|$/gm));

  it("answers twelve questions", () => {
    expect(rows).toHaveLength(12);
  });

  it.each(rows.map(([, question, name, file, symbol]) => ({ question, name, file, symbol })))(
    "$question is answered by one file whose first line agrees, and which declares $symbol",
    ({ question, name, file, symbol }) => {
      expect(name).toBe(file);
      const text = readFileSync(join(root, file), "utf8");
      const [first] = text.toLowerCase().split("\n");
      const words = Array.from(question.toLowerCase().matchAll(/\*\*([^*]+)\*\*/g), ([, word]) => word);
      expect(words.length).toBeGreaterThan(0);
      for (const word of words) expect(first).toContain(word);
      expect(text).toMatch(new RegExp(`^export (async )?(function|const|class) ${symbol}\\b`, "m"));
    },
  );
});

describe("every source file", () => {
  const all = Object.keys(workspaces).flatMap((workspace) => sources(`${workspace}/src`));

  it("begins with a line that says what lives there", () => {
    for (const file of all) {
      const [first, second] = readFileSync(join(root, file), "utf8").split("\n");
      const line = first.startsWith("#!") ? second : first;
      expect(line, file).toMatch(/^(\/\/|<!--) .{20}/);
    }
  });

  it("uses process only where the outside world begins", () => {
    // The worker of experiments is the main file of a process.
    const outside = /^(cli|lab)\/|^experiments\/src\/trial\/worker\.ts$/;
    for (const file of all.filter((name) => !outside.test(name))) {
      expect(code(file), file).not.toMatch(/\bprocess\b/);
      expect(imports(file, { types: false }), file).not.toContain("node:process");
    }
  });
});
