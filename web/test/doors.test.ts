// What reaches the dashboard from outside: other addresses of this machine, pages of other origins, bodies without end, and
// what a page may load and run.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveDashboard } from "../src/server/dashboard.ts";
import { type ServedPages, servePlayground } from "../src/server/pages.ts";
import { newToken, PROOF_HEADER } from "../src/server/requestPolicy.ts";

const token = newToken();
const acted: unknown[] = [];
let dashboard: ServedPages;
let playground: ServedPages;
beforeAll(async () => {
  dashboard = await serveDashboard(0, token, {
    snapshot: async () => ({ health: "{}", devices: new Map() }),
    act: async (asked) => {
      acted.push(asked);
      return "done";
    },
    exported: async () => ({ name: "model.json", text: "{}" }),
  });
  playground = await servePlayground(0);
});
afterAll(() => {
  dashboard.close();
  playground.close();
});

/** Whether anybody answers there: "connect", or why not. */
async function reached(port: number, host: string): Promise<string> {
  const socket = connect(port, host);
  const outcome = await Promise.race([
    once(socket, "connect").then(() => "connect"),
    once(socket, "error").then(([error]) => (error as NodeJS.ErrnoException).code ?? "error"),
  ]).catch((error: NodeJS.ErrnoException) => error.code ?? "error");
  socket.destroy();
  return outcome;
}

describe("addresses", () => {
  const others = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
    .map(({ address }) => address);
  // All of 127/8 is this machine on Linux, and only a server on every address answers there.
  const closed = process.platform === "linux" ? ["127.0.0.2", ...others] : others;

  test("both pages are served on this machine's own address", async () => {
    for (const { port } of [dashboard, playground]) expect(await reached(port, "127.0.0.1")).toBe("connect");
  });

  test.each(closed)("neither page is served on %s", async (host) => {
    for (const { port } of [dashboard, playground]) expect(await reached(port, host)).toBe("ECONNREFUSED");
  });
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly port?: number;
}

/** Sends the pieces one by one, and goes on until there is an answer. */
async function ask(
  { method = "GET", path = "/", headers = {}, port = dashboard.port }: Asked,
  pieces: Iterable<string>,
) {
  const host = `127.0.0.1:${port}`;
  const sent = request({ host: "127.0.0.1", port, method, path, agent: false, headers: { host, ...headers } });
  const answered = once(sent, "response").then(([response]) => response as IncomingMessage);
  let isAnswered = false;
  void answered.then(
    () => {
      isAnswered = true;
    },
    () => undefined,
  );
  let written = 0;
  for (const piece of pieces) {
    if (isAnswered) break;
    sent.write(piece);
    written += piece.length;
    await turn();
  }
  sent.on("error", () => undefined);
  if (!isAnswered) sent.end();
  const response = await answered;
  let body = "";
  response.setEncoding("utf8");
  for await (const part of response) body += part;
  sent.destroy();
  return { code: response.statusCode, headers: response.headers, body, written };
}

async function session(): Promise<Record<string, string>> {
  const json = { "content-type": "application/json" };
  const opened = { method: "POST", path: "/session", headers: json };
  const { body, headers } = await ask(opened, [JSON.stringify({ token })]);
  const [cookie] = headers["set-cookie"] as string[];
  return { ...json, cookie: cookie.split(";")[0], [PROOF_HEADER]: JSON.parse(body).proof };
}

describe("bodies", () => {
  const MOST = 65_536;
  const bodyOf = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  const cut = (text: string) => text.match(/.{1,8192}/g) ?? [];

  test.each([
    [MOST - 1, 200],
    [MOST, 200],
    [MOST + 1, 400],
  ])("one of %d bytes in chunks is answered %d", async (bytes, code) => {
    const headers = await session();
    const before = acted.length;
    expect(await ask({ method: "POST", path: "/act", headers }, cut(bodyOf(bytes)))).toMatchObject({ code });
    expect(acted.length - before).toBe(code === 200 ? 1 : 0);
  });

  test.each([
    [MOST, 200],
    [MOST + 1, 413],
  ])("one that states %d bytes is answered %d", async (bytes, code) => {
    const headers = { ...(await session()), "content-length": String(bytes) };
    const before = acted.length;
    expect(await ask({ method: "POST", path: "/act", headers }, cut(bodyOf(bytes)))).toMatchObject({ code });
    expect(acted.length - before).toBe(code === 200 ? 1 : 0);
  });

  test("one without end is answered before it has come far, with a session and without", async () => {
    function* endless() {
      for (let piece = 0; piece < 4096; piece++) yield "x".repeat(8192);
    }
    for (const path of ["/act", "/session"]) {
      const { code, written } = await ask({ method: "POST", path, headers: await session() }, endless());
      expect(code).toBe(400);
      expect(written).toBeLessThan(16 << 20);
    }
  });
});

describe("origins", () => {
  test.each([
    ["same-origin", 200],
    ["none", 200],
    ["same-site", 403],
    ["cross-site", 403],
    ["", 403],
    ["Same-Origin", 403],
  ])("a page that a browser calls %j is answered %d", async (site, code) => {
    const headers = { ...(await session()), "sec-fetch-site": site };
    const before = acted.length;
    expect(await ask({ method: "POST", path: "/act", headers }, ["{}"])).toMatchObject({ code });
    expect(await ask({ path: "/export", headers }, [])).toMatchObject({ code });
    expect(acted.length - before).toBe(code === 200 ? 1 : 0);
  });
});

describe("what a browser may do with an answer", () => {
  test.each(["/", "/nowhere", "/export", "/session"])("%s loads its own files and nothing else", async (path) => {
    const { headers } = await ask({ path, headers: await session() }, []);
    const policy = String(headers["content-security-policy"]).split("; ");
    expect(policy.toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "font-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
  });
});
