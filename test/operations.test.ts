// docs/operations.md is true: its first steps, as they stand, link two devices that agree.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

test("the block of Two devices on one machine links two devices that settle", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-operations-"));
  const page = readFileSync(join(root, "docs/operations.md"), "utf8");
  const block = /## Two devices on one machine\n[\s\S]*?```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(block.match(/^fedkm /gm)?.length).toBeGreaterThanOrEqual(7);
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/fedkm"), `#!/bin/sh\nexec "${process.execPath}" "${root}cli/bin/fedkm.js" "$@"\n`);
  chmodSync(join(folder, "bin/fedkm"), 0o755);
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH}` };
  const fedkm = (...args: string[]) => spawnSync("fedkm", args, { cwd: folder, env, encoding: "utf8" });
  const statusOf = (state: string) => JSON.parse(readFileSync(join(folder, state, "status.json"), "utf8"));
  // A group of their own, so that the devices it leaves in the background can be ended with it.
  const steps = spawn("bash", ["-euc", block], { cwd: folder, env, stdio: "ignore", detached: true });
  try {
    const [code] = await once(steps, "exit");
    expect(code).toBe(0);
    for (const state of ["north", "south"]) {
      await vi.waitFor(
        () => {
          const { device, links } = statusOf(state);
          expect(links).toMatchObject([{ isConnected: true }]);
          expect(links[0].framesHeard).toBeGreaterThan(0);
          expect(device.phase).toBe("settled");
        },
        { timeout: 30_000, interval: 200 },
      );
    }
    const status = fedkm("device", "status", "--state", "north");
    expect([status.status, status.stdout]).toEqual([
      0,
      expect.stringMatching(/^north: running as process \d+, settled/),
    ]);
    expect(fedkm("device", "export", "--state", "north").stdout).toBe("wrote model.json: 3 clusters of north\n");
  } finally {
    process.kill(-(steps.pid ?? 0), "SIGKILL");
    rmSync(folder, { recursive: true });
  }
});
