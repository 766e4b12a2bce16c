// WebSocket over TLS, as hospitals let it out: to one port, through a proxy that is asked to CONNECT, and by nothing else.

import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { nodeWebSockets, proxyOf, selfSignedCertificate } from "../../src/links/webSockets.ts";
import { Peers } from "../loopback.ts";

const peers = new Peers();
const closers: (() => void)[] = [];
afterEach(async () => {
  await peers.close();
  for (const close of closers.splice(0)) close();
});

/** A proxy that connects where it is asked to, with the password if it wants one, and remembers what it was asked. */
async function startProxy(credentials?: string) {
  const asked: string[] = [];
  const server = createServer();
  server.on("connect", ({ url = "", headers }, socket) => {
    asked.push(url);
    const wanted = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
    if (headers["proxy-authorization"] !== wanted) {
      socket.end("HTTP/1.1 407 Who are you\r\n\r\n");
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [onward, socket]) end.on("error", () => [onward, socket].map((one) => one.destroy()));
    closers.push(() => onward.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closers.push(() => server.close());
  return { asked, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function startHub(links: { readonly peer: string }[]) {
  const hub = await peers.identity("hub");
  const started = await peers.start(
    hub,
    links.map(({ peer }) => ({ peer, addresses: [] })),
    { listen: ["/ip4/127.0.0.1/tcp/0/tls/ws"], webSockets: nodeWebSockets({}, selfSignedCertificate()) },
  );
  const [address] = started.network.addresses();
  expect(address).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/(tls\/ws|wss)$/);
  return { ...started, contact: { peer: hub.peer, addresses: [address] }, port: address.split("/")[4] };
}

test("devices that listen nowhere reach one over TLS, directly and through a proxy that asks for a password", async () => {
  const [near, far] = [await peers.identity("near"), await peers.identity("far")];
  const hub = await startHub([near, far]);
  const proxy = await startProxy("site:p@ss");
  const direct = await peers.start(near, [hub.contact], { listen: [], webSockets: nodeWebSockets({}) });
  const env = { HTTPS_PROXY: `http://site:p%40ss@${proxy.address}` };
  const through = await peers.start(far, [hub.contact], { listen: [], webSockets: nodeWebSockets(env) });
  await Promise.all([hub.happened("connect near"), hub.happened("connect far")]);
  expect(proxy.asked).toEqual([`127.0.0.1:${hub.port}`]);
  for (const [end, bytes] of [
    [direct, 3],
    [through, 900],
  ] as const) {
    await end.happened("connect hub");
    end.network.send(hub.contact.peer, new Uint8Array(bytes).fill(7));
    hub.network.send(end.identity.peer, Uint8Array.of(9));
    await end.happened("frame hub");
  }
  await Promise.all([hub.happened("frame near"), hub.happened("frame far")]);
  expect(hub.frames.map(({ length }) => length).sort((a, b) => a - b)).toEqual([3, 900]);
});

test("a proxy that refuses or is not there is named as the reason of the link's failure", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const hub = await startHub([one, two]);
  const proxy = await startProxy("site:right");
  const failureOf = async (who: typeof one, address: string) => {
    const { network } = await peers.start(who, [hub.contact], {
      listen: [],
      webSockets: nodeWebSockets({ https_proxy: address }),
    });
    const failure = () => network.traffic(hub.contact.peer)?.failure;
    await expect.poll(failure).toMatch(/proxy/);
    return failure();
  };
  expect(await failureOf(one, proxy.address)).toBe(
    `the proxy ${proxy.address} answers 407 to CONNECT 127.0.0.1:${hub.port}`,
  );
  expect(await failureOf(two, "127.0.0.1:9")).toMatch(/^the proxy 127\.0\.0\.1:9 cannot be used: connect ECONNREFUSED/);
  expect(hub.events).toEqual([]);
});

test("the proxy is that of other programs: for TLS only, but for the names of NO_PROXY", () => {
  const wss = (host: string) => new URL(`wss://${host}:443`);
  const env = { HTTPS_PROXY: "proxy:3128", NO_PROXY: "localhost, .lan.example,*.north.example,10.0.0.7" };
  expect(proxyOf(wss("hub.example"), env)?.href).toBe("http://proxy:3128/");
  expect(proxyOf(wss("hub.example"), { ...env, https_proxy: "https://other" })?.href).toBe("https://other/");
  const direct = ["localhost", "lan.example", "a.lan.example", "b.north.example", "10.0.0.7"];
  expect(direct.map((host) => proxyOf(wss(host), env))).toEqual(direct.map(() => undefined));
  expect(proxyOf(wss("notlan.example"), env)).toBeDefined();
  expect(proxyOf(new URL("ws://hub.example:80"), env)).toBeUndefined();
  expect(proxyOf(wss("hub.example"), { ...env, NO_PROXY: "*" })).toBeUndefined();
  expect(proxyOf(wss("hub.example"), {})).toBeUndefined();
  expect(() => proxyOf(wss("hub.example"), { HTTPS_PROXY: "http://:x" })).toThrow(/^HTTPS_PROXY must be an address/);
});

test("a self-signed certificate is one: signed by its own key, valid now, another for each", () => {
  const [one, two] = [selfSignedCertificate(), selfSignedCertificate()];
  const parsed = new X509Certificate(one.cert);
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(parsed.verify(new X509Certificate(two.cert).publicKey)).toBe(false);
  expect(parsed.subject).toBe("CN=fedkm device");
  expect(Date.parse(parsed.validTo)).toBeGreaterThan(Date.now());
  expect(Date.parse(parsed.validFrom)).toBeLessThan(Date.now());
});
