// docs/operations.md is true: its first steps, as they stand, link two devices that agree, and all later blocks run.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runCommandLine } from "../cli/src/program.ts";
import { fakeConsole } from "../cli/test/fakeConsole.ts";
import { eventually } from "./eventually.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/operations.md"), "utf8");
const blocks = Array.from(page.matchAll(/^```bash\n([\s\S]*?)^```/gm), (match) => match[1]);

function folderWithExamples(): string {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-operations-"));
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  return folder;
}

test("the block of Two devices on one machine links two devices that settle", async () => {
  const folder = folderWithExamples();
  expect(blocks[0].match(/^fedkm /gm)?.length).toBeGreaterThanOrEqual(7);
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/fedkm"), `#!/bin/sh\nexec "${process.execPath}" "${root}cli/bin/fedkm.js" "$@"\n`);
  chmodSync(join(folder, "bin/fedkm"), 0o755);
  const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH}` };
  const fedkm = (...args: string[]) => spawnSync("fedkm", args, { cwd: folder, env, encoding: "utf8" });
  const statusOf = (state: string) => JSON.parse(readFileSync(join(folder, state, "status.json"), "utf8"));
  // A group of their own, so that the devices it leaves in the background can be ended with it.
  const steps = spawn("bash", ["-euc", blocks[0]], { cwd: folder, env, stdio: "ignore", detached: true });
  try {
    const [code] = await once(steps, "exit");
    expect(code).toBe(0);
    for (const state of ["north", "south"]) {
      await eventually(
        () => {
          const { device, links } = statusOf(state);
          expect(links).toMatchObject([{ isConnected: true }]);
          expect(links[0].framesHeard).toBeGreaterThan(0);
          expect(device.phase).toBe("settled");
        },
        join(folder, state),
      );
    }
    const status = fedkm("device", "status", "--state", "north");
    expect([status.status, status.stdout]).toEqual([
      0,
      expect.stringMatching(/^Nothing is wrong: north answers\nnorth: running as process \d+, .*, settled/),
    ]);
    expect(fedkm("device", "export", "--state", "north").stdout).toBe("wrote model.json: 3 clusters of north\n");
  } finally {
    process.kill(-(steps.pid ?? 0), "SIGKILL");
    rmSync(folder, { recursive: true });
  }
});

/** What a shell would do with a line of the page. In this process: a program for each of them would take long to load. */
async function type(line: string): Promise<{ code: number | null; said: string }> {
  if (!line.startsWith("fedkm ")) {
    const { status, stderr } = spawnSync("bash", ["-euc", line], { encoding: "utf8" });
    return { code: status, said: stderr };
  }
  const inner = /"\$\((fedkm [^|)]*) \| tail -1\)"/.exec(line);
  const filled =
    inner === null ? line : line.replace(inner[0], (await type(inner[1])).said.trim().split("\n").at(-1) ?? "");
  const words = Array.from(filled.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare);
  const console = fakeConsole();
  const code = await runCommandLine(words.slice(1), console);
  const { stdout, stderr } = console.said();
  return { code, said: stderr + stdout };
}

test("every block that is marked as bash runs, one after the other, and only those of Install are not marked", async () => {
  const unmarked = Array.from(page.matchAll(/^## ([^\n]*)$|^```(sh)$/gm), ([, heading, block]) => heading ?? block);
  expect(unmarked.filter((_, i) => unmarked[i + 1] === "sh" || unmarked[i] === "sh")).toEqual(["Install", "sh", "sh"]);
  const lines = blocks.flatMap((block) => block.split("\n")).filter((line) => /^[^#]/.test(line));
  const folder = folderWithExamples();
  const before = process.cwd();
  process.chdir(folder);
  try {
    // Nothing of the rest needs a device that runs.
    for (const line of lines.filter((line) => !line.startsWith("fedkm device run "))) {
      const { code, said } = await type(line);
      expect([line, code, code === 0 ? "" : said]).toEqual([line, 0, ""]);
    }
    expect(["restored/north/key", "north/successor", "audit.html"].filter((file) => !existsSync(file))).toEqual([]);
    const { said } = await type("fedkm device log --state north");
    expect(said).toMatch(/linked .*\n.*rotated .*\n.*revoked .*its disk was stolen/s);
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
});

/** What the page or the image types, with folders of this test in the place of those of a machine. */
function typed(text: string, folder: string) {
  const script = text.replaceAll("/opt/fedkm", join(folder, "opt")).replaceAll("/tmp/fedkm", join(folder, "packs"));
  const { status, stdout, stderr } = spawnSync("bash", ["-euc", script], { cwd: root, encoding: "utf8" });
  return { status, stdout, stderr: status === 0 ? "" : stderr };
}

test("the blocks of Install run, and a folder with the packed packages alone has the command and serves its pages", {
  timeout: 600_000,
}, (context) => {
  const [clone, machine] = Array.from(page.matchAll(/^```sh\n([\s\S]*?)^```/gm), (match) => match[1]);
  // The clone is installed: this test runs in it.
  expect(typed(clone.replace(/^npm install\n/, ""), root)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
  const registry = spawnSync("npm", ["view", "commander", "version", "--fetch-retries=0"], { timeout: 30_000 });
  if (registry.status !== 0) {
    context.skip("npm's registry cannot be reached from here");
  }
  const folder = mkdtempSync(join(tmpdir(), "install-fedkm-"));
  try {
    const { status, stdout, stderr } = typed(machine, folder);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^\d+\.\d+\.\d+$/);
    const installed = readdirSync(join(folder, "opt/node_modules/@fedkm")).map((name) => `@fedkm/${name}`);
    const manifest = (path: string) => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    const published: { name: string; private?: true }[] = manifest(".").workspaces.map(manifest);
    const names = published.filter((own) => own.private !== true).map(({ name }) => name);
    expect([...installed, "fedkm"].sort()).toEqual(names.sort());
    expect(existsSync(join(folder, "opt/node_modules/@fedkm/web/site/dashboard.html"))).toBe(true);
    // The list of what is installed has all of it.
    const { components } = JSON.parse(readFileSync(join(folder, "opt/sbom.json"), "utf8"));
    const listed = components.map(({ "bom-ref": ref }: { "bom-ref": string }) => ref.replace(/\|.*/, ""));
    const { packages } = JSON.parse(readFileSync(join(folder, "opt/node_modules/.package-lock.json"), "utf8"));
    const tree: [string, { readonly name?: string; readonly version: string }][] = Object.entries(packages);
    const known = tree.map(([path, { name, version }]) => `${name ?? path.split("node_modules/").at(-1)}@${version}`);
    expect(known.length).toBeGreaterThan(100);
    expect(known.filter((one) => !listed.includes(one))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("deploy/Containerfile packs and installs as the page does", () => {
  const image = readFileSync(join(root, "deploy/Containerfile"), "utf8");
  for (const text of [image, page]) expect(text).toMatch(/node deploy\/pack\.mjs \S+/);
  expect(image).toContain("npm init -y && npm install --omit=dev /packs/*.tgz\n");
  expect(page).toContain("npm init -y && npm install --omit=dev /tmp/fedkm/*.tgz\n");
  for (const text of [image, page]) expect(text).toContain("npm sbom --sbom-format cyclonedx > sbom.json\n");
});
