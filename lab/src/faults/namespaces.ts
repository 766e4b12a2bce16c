// A real partition: two devices in network namespaces of their own, and the cable between them pulled without a word.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fit, graph, type Matrix, stack } from "@fedkm/core";
import { pointsAsCsv } from "@fedkm/device";
import { print } from "../measure.ts";
import { makeFolders, problem, type RunningDevice, settle, startDevice } from "./processes.ts";

export const names = ["fedkm-a", "fedkm-b"];
const hosts = ["10.77.0.1", "10.77.0.2"];
export const ip = (...args: string[]) => execFileSync("ip", args, { stdio: "pipe" });
export const inside = (index: number) => ["ip", "netns", "exec", names[index]];

/** New rows come to one side while the sides are apart; after it, both must agree on them. The bar is 0.1 % of `fit`. */
export function partitionInNamespaces({ seconds }: { seconds: number }): Promise<boolean> {
  return withCable(() => pull(seconds));
}

/** Two linked devices that do not know where the other is, on one local network. */
export function discoveryInNamespaces(): Promise<boolean> {
  return withCable(discover);
}

/** Runs with two namespaces and a cable between them; says so where that cannot be, and counts it as held. */
export async function withCable(run: () => Promise<boolean>): Promise<boolean> {
  try {
    layCable();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    print("In network namespaces", [["not run: needs root and ip"], [reason]]);
    removeCable();
    return true;
  }
  try {
    return await run();
  } finally {
    removeCable();
  }
}

async function discover(): Promise<boolean> {
  const { study, datasets } = problem("iso", 1);
  const given = { study, datasets: datasets.slice(0, 2), graph: graph(2, [[0, 1]]) };
  const folders = await makeFolders(given, { hosts, isLost: true });
  const devices = folders.devices.map((folder, index) => startDevice(folder, inside(index), ["--mdns"]));
  try {
    const bound = pause(60_000, undefined, { ref: false }).then(() =>
      Promise.reject(new Error("not found within 60 s")),
    );
    const times = await Promise.race([Promise.all(devices.map((device) => device.said("connected"))), bound]);
    print("Discovery on a local network (mDNS)", [
      ["start to linked"],
      [`${(Math.max(...times) / 1000).toFixed(1)} s`],
    ]);
    return true;
  } finally {
    await Promise.all(devices.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

function layCable(): void {
  for (const name of names) ip("netns", "add", name);
  ip("link", "add", "fedkm-0", "netns", names[0], "type", "veth", "peer", "name", "fedkm-1", "netns", names[1]);
  for (const [index, name] of names.entries()) {
    ip("-n", name, "address", "add", `${hosts[index]}/24`, "dev", `fedkm-${index}`);
    for (const device of ["lo", `fedkm-${index}`]) ip("-n", name, "link", "set", device, "up");
    // As a machine with a default route has it.
    ip("-n", name, "route", "add", "224.0.0.0/4", "dev", `fedkm-${index}`);
  }
}

/** The cable goes with the namespaces. */
function removeCable(): void {
  for (const name of names) {
    try {
      ip("netns", "delete", name);
    } catch {
      // It was never made.
    }
  }
}

async function pull(seconds: number): Promise<boolean> {
  const { study, datasets } = problem("iso", 1);
  const links = graph(2, [[0, 1]]);
  const folders = await makeFolders({ study, datasets: datasets.slice(0, 2), graph: links }, { hosts });
  const devices = folders.devices.map((folder, index) => startDevice(folder, inside(index)));
  try {
    await settle(devices);
    ip("-n", names[0], "link", "set", "fedkm-0", "down");
    const more = stack([datasets[0], datasets[2]]);
    writeFileSync(folders.devices[0].data[0], pointsAsCsv(study, more));
    await pause(1_000 * seconds);
    ip("-n", names[0], "link", "set", "fedkm-0", "up");
    const begun = performance.now();
    const wanted = fitted([more, datasets[1]]);
    // The side that heard nothing of it until now must know the new rows' pull.
    while (Math.abs(reached(devices) / wanted - 1) > 1e-3 && performance.now() - begun < 400_000) await pause(200);
    const after = (performance.now() - begun) / 1000;
    const difference = 100 * (reached(devices) / wanted - 1);
    print(`A real partition of ${seconds} s between network namespaces, with new rows on one side meanwhile`, [
      ["objective against fit, after it", "agreed after"],
      [`${difference.toFixed(4)} %`, `${after.toFixed(1)} s`],
    ]);
    return Math.abs(difference) <= 0.1;
  } finally {
    await Promise.all(devices.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

const fitted = (datasets: readonly Matrix[]) =>
  fit(datasets, graph(2, [[0, 1]]), { k: 3, alpha: 1, schedule: "cyclic", rounds: 5_000, seed: 1 }).objective;

const reached = (devices: readonly RunningDevice[]) =>
  devices.reduce((sum, device) => sum + (device.status()?.device.objective ?? 0), 0);
