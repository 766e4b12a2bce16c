// Two devices behind routers that let nobody in, and a linked public one that relays: what they reach, and who does not.

import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { complete, fit, matrix, objective, type PaperKind } from "@fedkm/core";
import { type DeviceFolder, type LinkStatus, writeLinksFile } from "@fedkm/device/daemon";
import { fedkmProgram } from "../fedkm.ts";
import { print } from "../measure.ts";
import { ip } from "./namespaces.ts";
import { areSettled, makeFolders, problem, type RunningDevice, startDevice } from "./processes.ts";
import type { StrangersLuck } from "./relayStranger.ts";

// Two homes, each behind a router with NAT (nftables) that lets nobody in, and a public side between them, in namespaces.

/** A namespace for each machine. */
const machines = ["left", "left-router", "internet", "relay", "right-router", "right"] as const;
type Machine = (typeof machines)[number];

/** Where devices are, each in its own network. The homes' addresses mean nothing outside. */
const hosts = { relay: "10.78.10.2", left: "10.78.1.2", right: "10.78.2.2" };

const named = (machine: Machine) => `fedkm-${machine}`;
const on = (machine: Machine) => ["ip", "netns", "exec", named(machine)];

/** What goes out is let back in, and nothing else. */
const rules = `
table ip home {
  chain nat { type nat hook postrouting priority 100; oifname "outside" masquerade; }
  chain forward { type filter hook forward priority 0; policy drop; iifname "inside" accept; ct state established,related accept; }
  chain input { type filter hook input priority 0; policy drop; iifname "inside" accept; ct state established,related accept; }
}
`;

/** Says so where it cannot be run, and counts that as held. */
async function withRouters(run: () => Promise<boolean>): Promise<boolean> {
  try {
    build();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    print("Behind two routers", [["not run: needs root, ip and nft"], [reason]]);
    remove();
    return true;
  }
  try {
    return await run();
  } finally {
    remove();
  }
}

function build(): void {
  for (const machine of machines) {
    ip("netns", "add", named(machine));
    ip("-n", named(machine), "link", "set", "lo", "up");
  }
  cable(["left", "eth0", `${hosts.left}/24`], ["left-router", "inside", "10.78.1.1/24"]);
  cable(["right", "eth0", `${hosts.right}/24`], ["right-router", "inside", "10.78.2.1/24"]);
  cable(["left-router", "outside", "10.78.11.2/24"], ["internet", "left", "10.78.11.1/24"]);
  cable(["right-router", "outside", "10.78.12.2/24"], ["internet", "right", "10.78.12.1/24"]);
  cable(["relay", "eth0", `${hosts.relay}/24`], ["internet", "relay", "10.78.10.1/24"]);
  const gateways: readonly (readonly [Machine, string])[] = [
    ["left", "10.78.1.1"],
    ["right", "10.78.2.1"],
    ["left-router", "10.78.11.1"],
    ["right-router", "10.78.12.1"],
    ["relay", "10.78.10.1"],
  ];
  for (const [machine, gateway] of gateways) ip("-n", named(machine), "route", "add", "default", "via", gateway);
  for (const router of ["left-router", "right-router", "internet"] as const) {
    command(router, ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
  }
  for (const router of ["left-router", "right-router"] as const) command(router, ["nft", "-f", "-"], rules);
}

type End = readonly [machine: Machine, device: string, address: string];

function cable([one, device, address]: End, [other, otherDevice, otherAddress]: End): void {
  const far = ["peer", "name", otherDevice, "netns", named(other)];
  ip("link", "add", device, "netns", named(one), "type", "veth", ...far);
  ip("-n", named(one), "address", "add", address, "dev", device);
  ip("-n", named(other), "address", "add", otherAddress, "dev", otherDevice);
  ip("-n", named(one), "link", "set", device, "up");
  ip("-n", named(other), "link", "set", otherDevice, "up");
}

/** Cables and rules go with the namespaces. */
function remove(): void {
  for (const machine of machines) {
    try {
      ip("netns", "delete", named(machine));
    } catch {
      // It was never made.
    }
  }
}

function command(machine: Machine, words: readonly string[], input = ""): string {
  const [program, ...args] = [...on(machine), ...words];
  return execFileSync(program, args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
}

/** Whether a connection from one machine to a port of another stands within 2 s. */
function canConnect(from: Machine, host: string, port: number): boolean {
  const script = `const s = require("node:net").connect(${port}, "${host}"); setTimeout(() => process.exit(1), 2000);
    s.on("connect", () => process.exit(0)); s.on("error", () => process.exit(1));`;
  try {
    command(from, [process.execPath, "-e", script]);
    return true;
  } catch {
    return false;
  }
}

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function node(machine: Machine, ...args: string[]): Promise<string> {
  const [command, ...rest] = [...on(machine), process.execPath, ...args];
  return (await promisify(execFile)(command, rest)).stdout;
}
const fedkm = (machine: Machine, ...args: string[]) => node(machine, fedkmProgram, ...args);

/** Bars: within 0.1 % of `fit` through a relay that can read nothing, and those of `trouble`. */
export function behindTwoRouters({ kinds }: { kinds: readonly PaperKind[] }): Promise<boolean> {
  return withRouters(async () => {
    const rows: string[][] = [["data", "difference", "settled after", "linked via", "relayed", "plaintext in it"]];
    let isGood = true;
    for (const [n, kind] of kinds.entries()) {
      const scene = await makeScene(kind);
      try {
        const { difference, seconds, via, bytes, found } = await meet(scene);
        isGood &&= difference <= 1e-3 && seconds !== undefined && via === "device-0" && bytes > 0 && found === 0;
        const percent = `${(100 * difference).toFixed(4)} %`;
        rows.push([kind, percent, shown(seconds), via, `${bytes} bytes`, `${found} times`]);
        if (n === 0) isGood = (await trouble(scene)) && isGood;
      } finally {
        await Promise.all(scene.running.map((device) => device.end("SIGTERM")));
        scene.folders.remove();
      }
    }
    print("Behind two routers: three members, a public one relays; objective against fit", rows);
    return isGood;
  });
}

async function makeScene(kind: PaperKind) {
  const { study, datasets: ten } = problem(kind, 1);
  const given = { study, datasets: ten.slice(0, 3), graph: complete(3) };
  const folders = await makeFolders(given, { hosts: [hosts.relay, hosts.left, hosts.right] });
  const [relay, left, right] = folders.devices;
  const record = `${relay.path}.relayed`;
  const recorder = [beside("relayRecorder.js"), "--record", record];
  const startRelay = () => startDevice(relay, on("relay"), [], recorder);
  const running: RunningDevice[] = [];
  return { given, folders, relay, left, right, record, startRelay, running };
}

type Scene = Awaited<ReturnType<typeof makeScene>>;

/** As people do it: right is given left's invite, which names the relay. */
async function meet({ given, relay, left, right, record, startRelay, running }: Scene) {
  const { study, datasets, graph } = given;
  await writeLinksFile(right.path, [{ name: relay.name, peer: relay.identity.peer, addresses: relay.listen }]);
  await fedkm("relay", "device", "relay", "on", "--state", relay.path);
  running.push(startRelay(), startDevice(left, on("left")));
  const invite = async () => JSON.parse(await fedkm("left", "device", "links", "--json", "--state", left.path)).invite;
  await within(60, async () => /p2p-circuit/.test(await invite()));
  await fedkm(
    "right",
    "device",
    "link",
    await invite(),
    "--name",
    left.name,
    "--accept",
    "open",
    "--state",
    right.path,
  );
  running.push(startDevice(right, on("right")));
  const seconds = await within(90, () => areSettled(running) && isMet(running));
  const { alpha, coupling, weighting, k } = study;
  const centroids = running.map((device) => device.status()?.device.centroids ?? []);
  const reached = objective(datasets, centroids.map(matrix), graph, { alpha, coupling, weighting });
  const model = fit(datasets, graph, { k, alpha, schedule: "cyclic", rounds: 5_000, seed: 1 });
  const relayed = existsSync(record) ? readFileSync(record) : Buffer.alloc(0);
  const hash = Buffer.from(running[1].status()?.studyHash ?? "", "hex").subarray(0, 16);
  // What every frame begins with, and what the frames of the two say.
  const plain = [Buffer.from("fdkm"), hash, ...centroids.slice(1).flat(2).map(asBytes)];
  return {
    difference: reached / model.objective - 1,
    seconds,
    via: linkOf(running[1], right)?.via ?? "none",
    bytes: relayed.length,
    found: plain.filter((bytes) => relayed.includes(bytes)).length,
  };
}

/** Bars: nobody gets in from outside, a stranger gets nothing, a relay that is off is named, and 60 s when it is on again. */
async function trouble({ relay, left, right, startRelay, running }: Scene): Promise<boolean> {
  const [inner, outer] = [portOf(left), portOf(relay)];
  const isOpen = canConnect("relay", "10.78.11.2", inner) || canConnect("right", hosts.left, inner);
  const isPublic = canConnect("left", hosts.relay, outer);
  const asked = ["--relay", relay.identity.peer, "--address", relay.listen[0], "--target", left.identity.peer];
  const luck: StrangersLuck = JSON.parse(await node("internet", beside("relayStranger.js"), ...asked));
  const restart = async (choice: "on" | "off") => {
    await running[0].end("SIGTERM");
    await fedkm("relay", "device", "relay", choice, "--state", relay.path);
    running[0] = startRelay();
  };
  await restart("off");
  const off = "it cannot be reached through the relay device-0: that device does not relay any more";
  const isNamed = (device: RunningDevice, other: DeviceFolder) =>
    linkOf(device, other)?.failure === off &&
    device.status()?.notices.some(({ cause, until }) => cause === "relay" && until === null) === true;
  const named = await within(60, () => isNamed(running[1], right) && isNamed(running[2], left));
  await restart("on");
  const again = await within(60, () => isMet(running));
  print("Behind two routers: strangers, and a relay that is turned off and on", [
    ["into a home", "stranger's reservations", "its circuits", "off, named after", "on, together after"],
    [isOpen ? "open" : "closed", String(luck.reservations), String(luck.circuits), shown(named), shown(again)],
  ]);
  const isRefused = luck.reservations === 0 && luck.circuits === 0;
  return !isOpen && isPublic && isRefused && named !== undefined && again !== undefined;
}

/** The two homes are linked through the relay, and with it, as all of them say. */
function isMet([relay, ...homes]: readonly RunningDevice[]): boolean {
  const areLinked = homes.every((device) => {
    const links = device.status()?.links ?? [];
    return links.length === 2 && links.every(({ isConnected }) => isConnected) && links.some(({ via }) => via !== null);
  });
  return areLinked && (relay.status()?.relay?.circuits ?? 0) > 0;
}

function linkOf(device: RunningDevice, { identity }: DeviceFolder): LinkStatus | undefined {
  return device.status()?.links.find(({ peer }) => peer === identity.peer);
}

const portOf = ({ listen }: DeviceFolder) => Number(listen[0].split("/").at(-1));
const shown = (seconds: number | undefined) => (seconds === undefined ? "never" : `${seconds.toFixed(1)} s`);

function asBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

/** Seconds until it is so; undefined: it did not become so in time. */
async function within(most: number, isSo: () => boolean | Promise<boolean>): Promise<number | undefined> {
  const begun = performance.now();
  const passed = () => (performance.now() - begun) / 1000;
  while (!(await isSo())) {
    if (passed() > most) return undefined;
    await pause(200);
  }
  return passed();
}
