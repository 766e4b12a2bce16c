// Faults of real processes, and what the dashboard says about each in Chromium: who, why, what to do, and how soon.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { paperData, ring } from "@fedkm/core";
import {
  type DaemonStatus,
  localNetworkName,
  localNetworkOfPoints,
  prepareLocalNetwork,
  readLinksFile,
  writeLinksFile,
} from "@fedkm/device/daemon";
import { dashboardAddress, openDashboard, type ServedPages } from "@fedkm/web/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { launchChromium, browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { eventually } from "../../../test/eventually.ts";
import { dashboardSource } from "../../src/deviceFolders.ts";

const program = fileURLToPath(new URL("../../bin/fedkm.js", import.meta.url));

const iptables = (...args: string[]) => spawnSync("iptables", ["-w", ...args]).status === 0;

/** A ring of devices as processes, the page that shows them, and faults of the third of them. */
class FaultyRing {
  readonly path = mkdtempSync(join(tmpdir(), "fedkm-faults-"));
  readonly #children = new Map<string, ChildProcess>();
  readonly #devices: number;
  #dashboard: ServedPages | undefined;
  #browser: Browser | undefined;
  #isMounted = false;
  folders: string[] = [];
  page: Page | undefined;

  constructor(devices: number) {
    this.#devices = devices;
  }

  /** The device that has the faults, and those beside it. */
  name(which: 2 | 3 | 4): string {
    return localNetworkName(which - 1, this.#devices);
  }

  at(which: 2 | 3 | 4, ...names: string[]): string {
    return join(this.path, this.name(which), ...names);
  }

  get data(): string {
    return join(this.path, "data", `${this.name(3)}.csv`);
  }

  async start(): Promise<void> {
    const { datasets } = paperData("iso", this.#devices, 200, 1);
    const graph = ring(this.#devices);
    this.folders = await prepareLocalNetwork({
      base: this.path,
      graph,
      ...localNetworkOfPoints(datasets, join(this.path, "data")),
    });
    this.#mountSmallDisk();
    for (const folder of this.folders) this.run(folder);
    this.#dashboard = await openDashboard(this.path, dashboardSource(this.folders), 0);
    this.#browser = await launchChromium();
    this.page = await this.#browser.newPage({ viewport: { width: 1280, height: 900 } });
    this.page.setDefaultTimeout(600_000);
    await this.page.goto((await dashboardAddress(this.path)) ?? "");
  }

  /** Puts the folder of the third device on a disk of 2 MB, where the system allows it. */
  #mountSmallDisk(): void {
    const [folder, copy] = [this.at(3), join(this.path, "copy")];
    cpSync(folder, copy, { recursive: true });
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", folder]);
    this.#isMounted = status === 0;
    if (this.#isMounted) cpSync(copy, folder, { recursive: true });
    rmSync(copy, { recursive: true });
  }

  get hasSmallDisk(): boolean {
    return this.#isMounted;
  }

  run(folder: string): void {
    const log = openSync(join(this.path, "devices.log"), "a");
    const child = spawn(process.execPath, [program, "device", "run", "--state", folder], {
      stdio: ["ignore", "ignore", log],
    });
    this.#children.set(folder, child);
  }

  get faulty(): ChildProcess {
    return this.#children.get(this.at(3)) as ChildProcess;
  }

  status(folder: string): DaemonStatus {
    return JSON.parse(readFileSync(join(folder, "status.json"), "utf8"));
  }

  /** Takes a link out of one side, and returns how to put it back. */
  async unlink(which: 2 | 3, other: 2 | 3): Promise<() => Promise<void>> {
    const links = await readLinksFile(this.at(which));
    await writeLinksFile(
      this.at(which),
      links.filter(({ name }) => name !== this.name(other)),
    );
    return () => writeLinksFile(this.at(which), links);
  }

  /** Whether packets can be dropped on the way here: by root, with iptables. */
  readonly hasFirewall = iptables("-L", "INPUT");

  /** Drops what comes to the port on which the third device listens, and what comes from there. */
  dropPackets(): () => void {
    const [port] = /(?<=tcp\/)\d+/.exec(this.status(this.at(3)).addresses[0]) ?? [];
    const drop = (how: "-A" | "-D") => {
      for (const end of ["--dport", "--sport"])
        iptables(how, "INPUT", "-i", "lo", "-p", "tcp", end, `${port}`, "-j", "DROP");
    };
    drop("-A");
    return () => drop("-D");
  }

  /** Changes the rows of the third device, and returns how to change them back. */
  rewrite(change: (text: string) => string): () => void {
    const text = readFileSync(this.data, "utf8");
    writeFileSync(this.data, change(text));
    return () => writeFileSync(this.data, text);
  }

  fillDisk(): () => void {
    const filler = this.at(3, "filler");
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(4096), { flag: "a" });
    } catch {
      return () => rmSync(filler);
    }
  }

  /** What the page says now. */
  async seen() {
    const page = this.page as Page;
    const [headline, all, title] = await Promise.all([
      page.locator("h1").textContent(),
      page.getByRole("region", { name: "How the devices are" }).textContent(),
      page.title(),
    ]);
    return { headline: headline ?? "", all: all ?? "", title };
  }

  /** Seconds until the page says all of it, or what it says instead; and for how long it was calm before. */
  async secondsUntil(said: { headline: RegExp; all: readonly RegExp[] }, most: number) {
    const begun = performance.now();
    let calm = 0;
    for (;;) {
      const seen = await this.seen();
      const seconds = (performance.now() - begun) / 1000;
      if (`${seen.headline} ${seen.title}`.includes("Nothing is wrong")) calm = seconds;
      if (said.headline.test(seen.headline) && said.all.every((one) => one.test(seen.all))) return { seconds, calm };
      if (seconds > most) return { seconds: `after ${seconds.toFixed(0)} s: ${seen.all}`, calm };
      await pause(100);
    }
  }

  async close(): Promise<void> {
    this.#dashboard?.close();
    await this.#browser?.close();
    for (const child of this.#children.values()) {
      child.kill("SIGCONT");
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    }
    if (this.#isMounted) spawnSync("umount", [this.at(3)]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

interface Fault {
  readonly name: string;
  /** Brings it about, and returns how it ends. */
  begin(network: FaultyRing): (() => unknown) | Promise<() => unknown>;
  readonly headline: (network: FaultyRing) => RegExp;
  readonly all: (network: FaultyRing) => readonly RegExp[];
  /** Seconds within which the page must say it. */
  readonly within: number;
}

const [SOON, LIES] = [15, 60];
const UNTIMED_SECONDS = 300;
const one =
  (what: string, which: 2 | 3 = 3) =>
  (network: FaultyRing) =>
    new RegExp(`^1 of \\d+ devices ${what}: ${network.name(which)}\\b`);
/** Every cell of the first column in another unit. */
const scaled = (text: string) => text.replaceAll(/^(-?[\d.]+),/gm, (_, value) => `${100 * Number(value)},`);
/** The rows mirrored within their own range, so that none is out of bounds: nobody else has such rows. */
function mirrored(text: string): string {
  const values = Array.from(text.matchAll(/^(-?[\d.]+),/gm), ([, value]) => Number(value));
  const ends = Math.min(...values) + Math.max(...values);
  return text.replaceAll(/^(-?[\d.]+),/gm, (_, value) => `${ends - Number(value)},`);
}

const faults: readonly Fault[] = [
  {
    name: "killed",
    begin(network) {
      network.faulty.kill("SIGKILL");
      return () => network.run(network.at(3));
    },
    headline: one("does not answer"),
    all: (network) => [/Its process \d+ is gone/, new RegExp(`fedkm device run --state ${network.at(3)} starts it`)],
    within: SOON,
  },
  {
    name: "hung",
    begin(network) {
      network.faulty.kill("SIGSTOP");
      return () => network.faulty.kill("SIGCONT");
    },
    headline: one("does not answer"),
    all: () => [/suspended by a signal/, /kill -CONT \d+ continues it/],
    within: SOON,
  },
  {
    name: "cut by the side that dials",
    begin: (network) => network.unlink(3, 2),
    headline: one("has cut a link"),
    all: (network) => [
      new RegExp(`${network.name(3)} has no link to ${network.name(2)}, which has linked it`),
      new RegExp(`Link it again in ${network.at(3)}`),
    ],
    within: SOON,
  },
  {
    name: "cut by the side that is dialled",
    begin: (network) => network.unlink(2, 3),
    headline: one("has cut a link", 2),
    all: (network) => [
      new RegExp(`${network.name(2)} has no link to ${network.name(3)}, which has linked it`),
      new RegExp(`Link it again in ${network.at(2)}`),
    ],
    within: SOON,
  },
  {
    name: "cut off on the way",
    begin: (network) => network.dropPackets(),
    headline: (network) =>
      new RegExp(`^\\d of \\d+ devices do(es)? not hear a neighbour: .*(${network.name(3)}|${network.name(4)})\\b`),
    all: (network) => [
      // Whichever of the two ends noticed it first.
      new RegExp(
        `Both ${network.name(4)} and ${network.name(3)} run|Both ${network.name(3)} and ${network.name(4)} run`,
      ),
      /nothing comes from device-/,
      /Look at cables, routers and firewalls/,
    ],
    within: SOON,
  },
  {
    name: "given a bad file",
    begin: (network) => network.rewrite((text) => text.replace("\n", "\nnot a number,1\n")),
    headline: one("cannot read its data"),
    all: () => [/line 2/, /Correct the file/],
    within: SOON,
  },
  {
    name: "given a wrong unit",
    begin: (network) => network.rewrite(scaled),
    headline: one("has rows in a wrong unit"),
    all: () => [/out of the study's bounds \(x1/, /Check the unit/],
    within: SOON,
  },
  {
    name: "lying",
    begin: (network) => network.rewrite(mirrored),
    headline: one("pulls its neighbours away from their rows"),
    all: () => [/It pulls device-/, /unlink it/],
    within: LIES,
  },
  {
    name: "without room on its disk",
    begin: (network) => network.fillDisk(),
    headline: one("has no room on its disk"),
    all: () => [/bytes are left on the disk/, /Free the disk/],
    within: SOON,
  },
];

/** How long a fault goes on after the page has named it. */
const GOES_ON_MILLISECONDS = 4_000;

/**
 * One test for each fault: the page is calm before, names it, in time if that `isTimed`, is not calm while it lasts, and is
 * calm again. On a busy machine what takes long is not wrong.
 */
export function testFaults(devices: number, isTimed: boolean): void {
  const network = new FaultyRing(devices);
  beforeAll(() => network.start());
  afterAll(() => network.close());
  const calm = () =>
    eventually(async () => {
      const { headline, title } = await network.seen();
      expect([headline, title]).toEqual(Array(2).fill(`Nothing is wrong: all ${devices} devices answer`));
    }, network.path);

  for (const { name, begin, headline, all, within } of faults) {
    test(`a device that is ${name}, one of ${devices}`, async (context) => {
      context.skip(name.includes("disk") && !network.hasSmallDisk, "no disk of its own could be mounted here");
      context.skip(
        name.includes("way") && !network.hasFirewall,
        "no packets can be dropped here: it needs root and iptables",
      );
      await calm();
      const end = await begin(network);
      try {
        const most = isTimed ? within : UNTIMED_SECONDS;
        const { seconds, calm } = await network.secondsUntil({ headline: headline(network), all: all(network) }, most);
        expect(seconds).toBeTypeOf("number");
        console.log(
          `${name}, one of ${devices}: named after ${Number(seconds).toFixed(1)} s, calm for ${calm.toFixed(1)} s`,
        );
        for (const until = performance.now() + GOES_ON_MILLISECONDS; performance.now() < until; await pause(200)) {
          const seen = await network.seen();
          expect(`${seen.headline} ${seen.title}`).not.toContain("Nothing is wrong");
          // Its neighbours may notice something too.
          expect(seen.title).toMatch(/^\(!\) \d of/);
        }
      } finally {
        // Whatever became of it, the next fault begins in a network that is well.
        await end();
      }
    });
  }
}
