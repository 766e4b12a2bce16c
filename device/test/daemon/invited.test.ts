// What goes into an invite: nothing that nobody can dial.

import type { NetworkInterfaceInfo } from "node:os";
import { expect, test } from "vitest";
import { everyMachineInterface, invitedAddresses } from "../../src/daemon/machineAddresses.ts";

const own = (family: "IPv4" | "IPv6", address: string, internal: boolean, scopeid = 0) =>
  ({ family, address, internal, scopeid }) as NetworkInterfaceInfo;
const lo = [own("IPv4", "127.0.0.1", true), own("IPv6", "::1", true)];
const eth0 = [own("IPv4", "10.0.0.5", false), own("IPv6", "2001:db8::5", false), own("IPv6", "fe80::5", false, 2)];
const invited = (listen: string[], running?: string[], interfaces = { lo, eth0 }) =>
  invitedAddresses({ listen, announce: [] }, running, interfaces);

test("invitedAddresses puts this machine's addresses in the place of every interface, for IPv4 and IPv6", () => {
  expect(invited(["/ip4/0.0.0.0/tcp/4601", "/ip6/::/tcp/4602/ws"])).toEqual([
    "/ip4/10.0.0.5/tcp/4601",
    "/ip6/2001:db8::5/tcp/4602/ws",
  ]);
  expect(invited(["/ip4/0.0.0.0/tcp/1"], undefined, { lo, eth0: [] })).toEqual(["/ip4/127.0.0.1/tcp/1"]);
  expect(invited(["/dns4/a.example/tcp/1"])).toEqual(["/dns4/a.example/tcp/1"]);
});

test("invitedAddresses does not know any free port before the device runs, and then takes the true one", () => {
  expect(invited(["/ip4/0.0.0.0/tcp/0"])).toBeUndefined();
  expect(invited(["/ip4/0.0.0.0/tcp/0"], ["/ip4/127.0.0.1/tcp/31", "/ip4/10.0.0.5/tcp/31"])).toEqual([
    "/ip4/10.0.0.5/tcp/31",
  ]);
  const announce = ["/dns4/north.example.org/tcp/4601"];
  expect(invitedAddresses({ listen: ["/ip4/0.0.0.0/tcp/0"], announce }, undefined)).toEqual(announce);
});

test("everyInterface adds IPv6 where this machine has an address of it that others can dial", () => {
  expect(everyMachineInterface(7, { lo, eth0 })).toEqual(["/ip4/0.0.0.0/tcp/7", "/ip6/::/tcp/7"]);
  expect(everyMachineInterface(7, { lo, eth0: [eth0[0], eth0[2]] })).toEqual(["/ip4/0.0.0.0/tcp/7"]);
});
