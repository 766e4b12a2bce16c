// Servers of this machine for tests and measurements: plain processes in a temporary folder, ended with their group.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Database servers refuse to run as root; nobody has this number on every Linux. */
const NOBODY = 65534;

const isRoot = userInfo().uid === 0;
const asNobody = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `fedkm-${name}-`));
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  return folder;
}

/** A folder inside one of these. */
export function ownFolder(folder: string): void {
  mkdirSync(folder);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

export function runOnce(file: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(file, args, { cwd, encoding: "utf8", ...asNobody });
  if (status !== 0) throw new Error(`${file} failed: ${error?.message ?? stderr}`);
}

/** A server that ends with this process, however that ends. */
export function startServer(file: string, args: readonly string[], cwd: string): ChildProcess {
  return spawn("setpriv", ["--pdeathsig", "KILL", file, ...args], { cwd, stdio: "ignore", ...asNobody });
}

export async function stopServer(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((resolve) => server.once("exit", resolve));
  server.kill(signal);
  await gone;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until a server answers. */
export async function answers(ask: () => Promise<unknown>, seconds = 60): Promise<void> {
  for (let tries = 5 * seconds; ; tries--) {
    try {
      await ask();
      return;
    } catch (error) {
      if (tries === 0) throw error;
      await wait(200);
    }
  }
}
