// WebSocket over TLS in Node, for networks that let nothing else out: dialled through an HTTP proxy (CONNECT) where the
// environment names one, and listened to with a certificate. TLS is here for firewalls; who a peer is, Noise proves within.

import { generateKeyPairSync, sign } from "node:crypto";
import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { connect as connectTls } from "node:tls";
import { WebSocket as NodeWebSocket } from "ws";
import { KEEP_ALIVE_MILLISECONDS } from "../wire/limits.ts";

/** How this device opens WebSockets, and how it answers TLS. */
export interface WebSocketSettings {
  connect(url: string): WebSocket;
  readonly certificate?: Certificate;
}

/** Both as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export function nodeWebSockets(env: EnvironmentVariables, certificate?: Certificate): WebSocketSettings {
  return {
    connect(url) {
      const proxy = proxyOf(new URL(url), env);
      const socket = new NodeWebSocket(url, {
        // Whoever stands between two devices and opens TLS, as proxies of hospitals do, still meets Noise.
        rejectUnauthorized: false,
        perMessageDeflate: false,
        ...(proxy && { agent: tunnelAgent(proxy) }),
      });
      socket.once("upgrade", (response) => response.socket.setKeepAlive(true, KEEP_ALIVE_MILLISECONDS));
      return socket as unknown as WebSocket;
    },
    ...(certificate && { certificate }),
  };
}

/** The proxy for an address, as other programs find it; undefined: there is none for it. */
export function proxyOf({ protocol, hostname }: URL, env: EnvironmentVariables): URL | undefined {
  const named = env.https_proxy || env.HTTPS_PROXY;
  if (protocol !== "wss:" || !named) return undefined;
  const host = hostname.replace(/^\[|\]$/g, "");
  const exceptions = (env.no_proxy || env.NO_PROXY || "").split(",").map((one) => one.trim().replace(/^\*?\./, ""));
  const isException = (one: string) => one === "*" || (one !== "" && (host === one || host.endsWith(`.${one}`)));
  if (exceptions.some(isException)) return undefined;
  try {
    return new URL(named.includes("://") ? named : `http://${named}`);
  } catch {
    throw new RangeError(`HTTPS_PROXY must be an address such as http://proxy.example.org:3128, got "${named}"`);
  }
}

/** Connections that a proxy makes, with TLS to whom it has reached. */
function tunnelAgent(proxy: URL): Agent {
  const agent = new Agent({ maxCachedSessions: 0 });
  type Options = { readonly host: string; readonly port: number };
  type Callback = (error: Error | null, socket?: unknown) => void;
  const createConnection = (options: Options, callback: Callback) => {
    const { host, port } = options;
    const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const { username, password } = proxy;
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const asked = (proxy.protocol === "https:" ? httpsRequest : httpRequest)({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: target,
      headers: {
        host: target,
        ...(username !== "" && { "proxy-authorization": `Basic ${credentials.toString("base64")}` }),
      },
      agent: false,
    });
    asked.once("error", ({ message }) => callback(new Error(`the proxy ${proxy.host} cannot be used: ${message}`)));
    asked.once("connect", ({ statusCode }, socket) => {
      if (statusCode === 200) return callback(null, connectTls({ ...options, socket }));
      socket.destroy();
      callback(new Error(`the proxy ${proxy.host} answers ${statusCode} to CONNECT ${target}`));
    });
    // A proxy that refuses may answer as to any other request.
    asked.once("response", ({ statusCode }) => {
      asked.destroy();
      callback(new Error(`the proxy ${proxy.host} answers ${statusCode} to CONNECT ${target}`));
    });
    asked.end();
  };
  return Object.assign(agent, { createConnection });
}

/** One that nobody vouches for, of a new key (X.509 in DER): enough for devices, not for browsers. */
export function selfSignedCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, oid("2a8648ce3d040302"));
  const name = der(0x30, der(0x31, der(0x30, oid("550403"), der(0x0c, Buffer.from("fedkm device")))));
  const always = der(0x30, der(0x17, Buffer.from("700101000000Z")), der(0x18, Buffer.from("99991231235959Z")));
  const version = der(0xa0, der(0x02, Buffer.of(2)));
  const serial = der(0x02, Buffer.of(1));
  const subjectKey = publicKey.export({ type: "spki", format: "der" });
  const body = der(0x30, version, serial, algorithm, name, always, name, subjectKey);
  const signature = der(0x03, Buffer.of(0), sign("sha256", body, privateKey));
  const lines = der(0x30, body, algorithm, signature)
    .toString("base64")
    .replaceAll(/.{64}(?=.)/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** A value of DER: its tag, its length, its parts. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}
