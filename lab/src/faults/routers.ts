// Two homes, each behind a router with NAT (nftables) that lets nobody in, and a public side between them, in namespaces.

import { execFileSync } from "node:child_process";
import { print } from "../measure.ts";
import { ip } from "./namespaces.ts";

/** A namespace for each machine. */
const machines = ["left", "left-router", "internet", "relay", "right-router", "right"] as const;
export type Machine = (typeof machines)[number];

/** Where devices are, each in its own network. The homes' addresses mean nothing outside. */
export const hosts = { relay: "10.78.10.2", left: "10.78.1.2", right: "10.78.2.2" };

const named = (machine: Machine) => `fedkm-${machine}`;
export const on = (machine: Machine) => ["ip", "netns", "exec", named(machine)];

/** What goes out is let back in, and nothing else. */
const rules = `
table ip home {
  chain nat { type nat hook postrouting priority 100; oifname "outside" masquerade; }
  chain forward { type filter hook forward priority 0; policy drop; iifname "inside" accept; ct state established,related accept; }
  chain input { type filter hook input priority 0; policy drop; iifname "inside" accept; ct state established,related accept; }
}
`;

/** Says so where it cannot be run, and counts that as held. */
export async function withRouters(run: () => Promise<boolean>): Promise<boolean> {
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
export function canConnect(from: Machine, host: string, port: number): boolean {
  const script = `const s = require("node:net").connect(${port}, "${host}"); setTimeout(() => process.exit(1), 2000);
    s.on("connect", () => process.exit(0)); s.on("error", () => process.exit(1));`;
  try {
    command(from, [process.execPath, "-e", script]);
    return true;
  } catch {
    return false;
  }
}
