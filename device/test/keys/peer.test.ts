// What keys, peer ids and addresses must be.

import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from "@libp2p/crypto/keys";
import { peerIdFromPrivateKey } from "@libp2p/peer-id";
import { multiaddr } from "@multiformats/multiaddr";
import { expect, test } from "vitest";
import {
  createIdentity,
  identityOf,
  peerDialFault,
  peerFault,
  peerListenFault,
  peerOf,
  peerReachFault,
  peerThroughRelay,
  publicKeyOf,
} from "../../src/keys/peer.ts";

test("identityOf a key names the same peer, and throws for other bytes", async () => {
  const { peer, key } = await createIdentity();
  expect(identityOf(key)).toEqual({ peer, key });
  expect(() => identityOf(key.subarray(1))).toThrow();
});

test("ids, keys and addresses are those of libp2p", async () => {
  for (let i = 0; i < 50; i++) {
    const key = await generateKeyPair("Ed25519");
    const id = peerIdFromPrivateKey(key).toString();
    expect(identityOf(privateKeyToProtobuf(key)).peer).toBe(id);
    expect(publicKeyOf(id)).toEqual(key.publicKey.raw);
    const own = await createIdentity();
    expect(peerIdFromPrivateKey(privateKeyFromProtobuf(own.key)).toString()).toBe(own.peer);
  }
  // All zeros: an id with as many digits as any.
  expect(publicKeyOf(peerOf(new Uint8Array(32)))).toEqual(new Uint8Array(32));
  const good = [
    "/ip4/10.0.0.255/tcp/65535",
    "/ip6/fe80::1/tcp/1/ws",
    "/dns4/a.example/tcp/443/tls/ws",
    "/dns/a/tcp/1/wss",
  ];
  const bad = [
    "/ip4/256.0.0.1/tcp/1",
    "/ip4/1.2.3/tcp/1",
    "/ip4/1.2.3.4./tcp/1",
    "/ip6/1.2.3.4/tcp/1",
    "/ip6/g::/tcp/1",
  ];
  bad.push(
    "/ip4/1.2.3.4/tcp/65536",
    "/ip4/1.2.3.4/tcp/x",
    "/tcp/1",
    "",
    "/",
    "ip4/1.2.3.4/tcp/1",
    "/ip4/1.2.3.4/tcp/1/nonsense",
  );
  for (const text of [...good, ...bad]) {
    const theirs = (() => {
      try {
        return multiaddr(text)
          .getComponents()
          .some(({ name }) => name === "tcp");
      } catch {
        return false;
      }
    })();
    // Theirs takes a port without a host.
    if (text !== "/tcp/1") expect([text, theirs]).toEqual([text, good.includes(text)]);
    expect([text, peerListenFault(text) === undefined]).toEqual([text, good.includes(text)]);
  }
});

test("peerFault and addressFault say what an id and an address must be", async () => {
  const { peer } = await createIdentity();
  expect(peerFault(peer)).toBeUndefined();
  expect(peerFault("me")).toBe("must be a peer id such as 12D3KooW..., got me");
  expect(peerFault("QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N")).toMatch(/^must be of an Ed25519 key/);
  expect(peerListenFault("/ip4/127.0.0.1/tcp/4601")).toBeUndefined();
  expect(peerListenFault("/dns4/example.org/tcp/443/wss")).toBeUndefined();
  expect(peerListenFault("localhost:4601")).toMatch(/^must be a multiaddress such as/);
  expect(peerListenFault(`/ip4/127.0.0.1/tcp/1/p2p/${peer}`)).toMatch(/^must have a tcp port, no peer and no relay/);
  expect(peerListenFault("/ip4/127.0.0.1/udp/1")).toMatch(/^must have a tcp port/);
});

test("dialFault refuses what means every interface or any port, which addressFault allows to listen on", () => {
  for (const open of [
    "/ip4/0.0.0.0/tcp/4601",
    "/ip6/::/tcp/4601",
    "/ip6/0:0:0:0:0:0:0:0/tcp/1",
    "/ip4/10.0.0.1/tcp/0",
  ]) {
    expect(peerListenFault(open)).toBeUndefined();
    expect(peerDialFault(open)).toBe(`must have a host and a port that others can dial, got ${open}`);
  }
  for (const one of ["/ip6/::1/tcp/4601", "/ip4/10.0.0.0/tcp/4601/ws", "/dns6/north.example.org/tcp/4601"]) {
    expect(peerDialFault(one)).toBeUndefined();
  }
});

test("reachFault takes an address to dial and one through a relay, which must be named by its id alone", async () => {
  const { peer } = await createIdentity();
  expect(peerReachFault(peerThroughRelay(peer))).toBeUndefined();
  expect(peerReachFault("/ip4/10.0.0.1/tcp/4601")).toBeUndefined();
  expect(peerReachFault(peerThroughRelay("me"))).toBe("must be a peer id such as 12D3KooW..., got me");
  for (const other of [`/ip4/10.0.0.1/tcp/1${peerThroughRelay(peer)}`, `${peerThroughRelay(peer)}/p2p/${peer}`]) {
    expect(peerReachFault(other)).toMatch(/^must have a tcp port, no peer and no relay/);
  }
  expect(peerDialFault(peerThroughRelay(peer))).toMatch(/^must have a tcp port/);
});
