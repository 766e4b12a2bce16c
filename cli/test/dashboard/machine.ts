// Five devices of one machine, run by this process on a fast clock, and a browser to look at their dashboard.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { paperData, toRows } from "@fedkm/core";
import { realClock } from "@fedkm/device";
import {
  createFolder,
  type Daemon,
  type DaemonStatus,
  type DeviceFolder,
  freeMachinePorts,
  startDaemon,
  writeLinksFile,
} from "@fedkm/device/daemon";
import { dashboardAddress, openDashboard, type ServedPages } from "@fedkm/web/server";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../../core/test/hosts/chromium.ts";
import { studyText } from "../../../device/test/problem.ts";
import { dashboardSource } from "../../src/deviceFolders.ts";

const names = ["north", "south", "east"] as const;
type Name = (typeof names)[number];

const privateStudy = `name: private planes
k: 3
alpha: 1
privacy: private
typicalRows: 800
features:
  - { name: x1, unit: m, min: -13, max: 13 }
  - { name: x2, unit: m, min: -13, max: 13 }
`;

/** Ten of a device's seconds pass in one, so that nobody waits for its looks at files. */
const clock = {
  now: () => 10 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 10, run),
};
const host = {
  env: process.env,
  cpuMicroseconds: () => 0,
  version: "1",
  pid: process.pid,
  memoryBytes: () => 64e6,
  logFailure: () => undefined,
  linesLost: () => 0,
};

function linkTo({ name, identity, listen }: DeviceFolder) {
  return { name, peer: identity.peer, addresses: listen };
}

export class Machine {
  readonly path = mkdtempSync(join(tmpdir(), "fedkm-dashboard-"));
  readonly #daemons = new Map<string, Daemon>();
  #dashboard: ServedPages | undefined;
  #browser: Browser | undefined;
  folders: Readonly<Record<Name, DeviceFolder>> = {} as Record<Name, DeviceFolder>;

  /** North and south are linked with each other; east has linked north, which has not linked back. */
  async start(): Promise<void> {
    const { datasets } = paperData("iso", names.length, 60, 3);
    const ports = await freeMachinePorts("127.0.0.1", names.length);
    const made: DeviceFolder[] = [];
    for (const [i, name] of names.entries()) {
      const rows = join(this.path, `${name}.csv`);
      writeFileSync(rows, `x1,x2\n${toRows(datasets[i]).join("\n")}\n`);
      const settings = { name, data: [rows], listen: [`/ip4/127.0.0.1/tcp/${ports[i]}`], announce: [] };
      made.push(await createFolder(this.at(name), studyText, settings));
    }
    const [north, south, east] = made;
    this.folders = { north, south, east };
    await writeLinksFile(north.path, [linkTo(south)]);
    await writeLinksFile(south.path, [{ ...linkTo(north), addresses: [] }]);
    await writeLinksFile(east.path, [linkTo(north)]);
    this.#browser = await launchChromium();
    await this.run("north");
    await this.run("south");
  }

  /** Vault and safe have private rows, and are linked with each other. */
  async startPrivate(): Promise<void> {
    const ports = await freeMachinePorts("127.0.0.1", 2);
    const made: DeviceFolder[] = [];
    for (const [i, name] of ["vault", "safe"].entries()) {
      this.writeRows(name, i + 1);
      const listen = [`/ip4/127.0.0.1/tcp/${ports[i]}`];
      const settings = { name, data: [this.at(`${name}.csv`)], listen, announce: [] };
      made.push(await createFolder(this.at(name), privateStudy, settings));
    }
    const [vault, safe] = made;
    await writeLinksFile(vault.path, [linkTo(safe)]);
    await writeLinksFile(safe.path, [linkTo(vault)]);
    await this.run("vault");
    await this.run("safe");
  }

  /** Other rows for every seed. */
  writeRows(name: string, seed: number): void {
    const [rows] = paperData("iso", 1, 800, seed).datasets;
    writeFileSync(this.at(`${name}.csv`), `x1,x2\n${toRows(rows).join("\n")}\n`);
  }

  at(name: string): string {
    return join(this.path, name);
  }

  async run(name: string): Promise<void> {
    const log = { info: () => {}, warn: () => {} };
    this.#daemons.set(name, await startDaemon({ folder: this.at(name), log, host, clock }));
  }

  async halt(name: string): Promise<void> {
    await this.#daemons.get(name)?.stop();
    this.#daemons.delete(name);
  }

  /** As the device last wrote it. */
  status(name: string): DaemonStatus {
    return JSON.parse(readFileSync(join(this.at(name), "status.json"), "utf8"));
  }

  async serve(...shown: string[]): Promise<void> {
    const folders = shown.map((name) => this.at(name));
    this.#dashboard = await openDashboard(this.path, dashboardSource(folders), 0);
  }

  unserve(): void {
    this.#dashboard?.close();
    this.#dashboard = undefined;
  }

  /** The page, opened with its token. `foreign` is what it asked of others than the dashboard. */
  async open(options: { width?: number; colorScheme?: "light" | "dark" } = {}) {
    const { width = 1440, colorScheme = "light" } = options;
    const address = (await dashboardAddress(this.path)) ?? "";
    const page = (await this.#browser?.newPage({ viewport: { width, height: 900 }, colorScheme })) as Page;
    page.setDefaultTimeout(600_000);
    const foreign: string[] = [];
    page.on("request", (request) => request.url().startsWith(new URL(address).origin) || foreign.push(request.url()));
    // A page that fails shows nothing more: the test says why at once, and does not wait for it.
    const failed = new Promise((_, fail) => page.on("pageerror", fail));
    await page.goto(address);
    await Promise.race([page.getByText("live", { exact: true }).waitFor(), failed]);
    return { page, foreign };
  }

  async close(): Promise<void> {
    this.unserve();
    await this.#browser?.close();
    await Promise.all([...this.#daemons.keys()].map((name) => this.halt(name)));
    rmSync(this.path, { recursive: true });
  }
}
