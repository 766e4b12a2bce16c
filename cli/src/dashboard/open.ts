// A dashboard for some folders of devices, and the address that opens it. The token in it stays the same from start to
// start, in a file that only its owner can read.

import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folderSource } from "./folders.ts";
import { type Dashboard, serveDashboard } from "./server.ts";
import { newToken } from "./sessions.ts";

const FILE = "dashboard.json";

interface Entry {
  readonly port: number;
  readonly token: string;
}

/** `home` is the folder that keeps the token. */
export async function openDashboard(home: string, folders: readonly string[], port: number): Promise<Dashboard> {
  const last = await readEntry(home);
  const token = last?.token ?? newToken();
  const source = folderSource(folders);
  // Where any port will do, the last one is tried first: a page that is open there goes on by itself.
  const again =
    port === 0 && last !== undefined
      ? await serveDashboard(last.port, token, source).catch(() => undefined)
      : undefined;
  const dashboard = again ?? (await serveDashboard(port, token, source));
  const entry: Entry = { port: dashboard.port, token };
  const file = join(home, FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return dashboard;
}

/** Where the dashboard of a folder was last served; undefined: it never was. */
export async function dashboardAddress(home: string): Promise<string | undefined> {
  const entry = await readEntry(home);
  // Behind "#": browsers do not send that part, so that it is in no log.
  return entry && `http://127.0.0.1:${entry.port}/#${entry.token}`;
}

async function readEntry(home: string): Promise<Entry | undefined> {
  try {
    const { port, token } = JSON.parse(await readFile(join(home, FILE), "utf8"));
    return Number.isInteger(port) && typeof token === "string" && token.length >= 40 ? { port, token } : undefined;
  } catch {
    return undefined;
  }
}
