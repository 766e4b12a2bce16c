// What a device says about where it listens.

import { expect, test } from "vitest";
import {
  formatAnnouncedAddresses,
  parseAnnouncedAddresses,
  reachableAddresses,
} from "../../src/links/announcedAddresses.ts";

test("formatWhere says what others can dial, and nothing where that is only this machine's own", () => {
  const listening = ["/ip4/127.0.0.1/tcp/1", "/ip4/10.0.0.1/tcp/1", "/ip6/fe80::1/tcp/1", "/ip6/2001:db8::1/tcp/1"];
  const said = formatAnnouncedAddresses(listening);
  expect(said && parseAnnouncedAddresses(said)).toEqual(["/ip4/10.0.0.1/tcp/1", "/ip6/2001:db8::1/tcp/1"]);
  expect(formatAnnouncedAddresses(["/ip4/127.0.0.1/tcp/1", "/ip6/::1/tcp/1"])).toBeUndefined();
});

test("reachable gives this machine's own addresses only where there are no others", () => {
  expect(reachableAddresses(["/ip4/127.0.0.1/tcp/1", "/ip4/0.0.0.0/tcp/1"])).toEqual(["/ip4/127.0.0.1/tcp/1"]);
  expect(reachableAddresses(["/ip6/::1/tcp/1", "/dns4/a.example/tcp/1"])).toEqual(["/dns4/a.example/tcp/1"]);
});

test("parseWhere takes nothing of a text with a line that is no address to dial, or with too many", () => {
  const bytes = (lines: readonly string[]) => new TextEncoder().encode(lines.join("\n"));
  const good = "/ip4/10.0.0.1/tcp/1";
  expect(parseAnnouncedAddresses(bytes([good]))).toEqual([good]);
  for (const lines of [[], [good, "here"], [good, "/ip4/0.0.0.0/tcp/1"], new Array(9).fill(good)]) {
    expect(parseAnnouncedAddresses(bytes(lines))).toBeUndefined();
  }
  expect(parseAnnouncedAddresses(Uint8Array.of(0xff, 0xfe))).toBeUndefined();
});

test("formatWhere says relays before the first address is cut off, and reachable keeps them beside others", () => {
  const relay = "/p2p/12D3KooWRp8uFcaVKCJgSSykFQDxDs9hT3B2pevNoaWJqaziLFbX/p2p-circuit";
  const many = Array.from({ length: 9 }, (_, n) => `/ip4/10.0.0.${n}/tcp/1`);
  const said = formatAnnouncedAddresses([...many, relay]);
  expect(said && parseAnnouncedAddresses(said)).toEqual([relay, ...many.slice(0, 7)]);
  expect(reachableAddresses(["/ip4/127.0.0.1/tcp/1", relay])).toEqual(["/ip4/127.0.0.1/tcp/1", relay]);
  expect(reachableAddresses(["/ip4/127.0.0.1/tcp/1", many[0], relay])).toEqual([many[0], relay]);
});
