// The dashboard's door: of thousands of kinds of requests only the legal ones are answered, and no other changes anything.

import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answeredInOneGo, askInStorm } from "../../test/storm.ts";
import { serveDashboard } from "../src/server/dashboard.ts";
import type { ServedPages } from "../src/server/pages.ts";
import { cookieName, newToken, PROOF_HEADER, type Session, Sessions } from "../src/server/requestPolicy.ts";

const token = newToken();
const acted: unknown[] = [];
let dashboard: ServedPages;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
beforeAll(async () => {
  dashboard = await serveDashboard(0, token, {
    snapshot: async () => ({ health: "{}", devices: new Map() }),
    act: async (asked) => {
      acted.push(asked);
      return "done";
    },
    exported: async (name) => (name === "north" ? { name: 'model".json', text: "{}" } : undefined),
  });
});
afterAll(() => {
  agent.destroy();
  dashboard.close();
});

interface Answer {
  readonly code: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function ask(method: string, path: string, headers: Record<string, string>, body = ""): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: dashboard.port, agent, method, path, headers }, (response) => {
      const finish = (text: string) =>
        resolve({ code: response.statusCode ?? 0, body: text, headers: response.headers });
      // A stream has no end: that it began is the answer.
      if (response.headers["content-type"] === "text/event-stream") {
        response.destroy();
        finish("");
        return;
      }
      let text = "";
      response.on("data", (part) => {
        text += part;
      });
      response.on("end", () => finish(text));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const here = () => `127.0.0.1:${dashboard.port}`;

async function session(): Promise<Record<string, string>> {
  const json = { host: here(), "content-type": "application/json" };
  const { code, body, headers } = await ask("POST", "/session", json, JSON.stringify({ token }));
  expect(code).toBe(200);
  const [cookie] = headers["set-cookie"] as string[];
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
  return { cookie: cookie.split(";")[0], [PROOF_HEADER]: JSON.parse(body).proof };
}

test("serveDashboard answers legal requests only, of all combinations of host, origin, site, method, path and session", async () => {
  const { port } = dashboard;
  const hosts = [here(), `localhost:${port}`, `[::1]:${port}`, "127.0.0.1", `127.0.0.1:${port + 1}`, "evil.example"];
  hosts.push(
    `127.0.0.1.evil.example:${port}`,
    `evil.example:${port}`,
    `localhost.:${port}`,
    `0.0.0.0:${port}`,
    "evil.example:80",
    "localhost",
  );
  const origins = [undefined, `http://${here()}`, `http://localhost:${port}`, `https://${here()}`, "null"];
  origins.push("http://evil.example", `http://127.0.0.1:${port + 1}`, `http://localhost:${port}.evil.example`);
  const sites = [undefined, "same-origin", "none", "cross-site"];
  const methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS"];
  const real = await session();
  const sessions = [{}, { cookie: `${cookieName(port)}=${newToken()}`, [PROOF_HEADER]: newToken() }, real];
  const isLocal = (host: string) => hosts.indexOf(host) < 3;
  let requests = 0;
  let legal = 0;
  const before = acted.length;
  for (const host of hosts) {
    for (const origin of origins) {
      for (const site of sites) {
        const waiting: Promise<void>[] = [];
        for (const method of methods) {
          for (const path of ["/act", "/events"]) {
            for (const held of sessions) {
              const headers: Record<string, string> = { host, "content-type": "application/json", ...held };
              if (origin !== undefined) headers.origin = origin;
              if (site !== undefined) headers["sec-fetch-site"] = site;
              const isOwnPage = isLocal(host) && origins.indexOf(origin) < 3 && site !== "cross-site";
              const isLegal = isOwnPage && held === real && method === (path === "/act" ? "POST" : "GET");
              requests++;
              if (isLegal && path === "/act") legal++;
              const checked = ask(method, path, headers, method === "POST" ? "{}" : "").then(
                ({ code, headers: got }) => {
                  const seen = `${method} ${path} ${JSON.stringify(headers)}: ${code}`;
                  expect(code === 200, seen).toBe(isLegal);
                  expect(got["access-control-allow-origin"], seen).toBeUndefined();
                },
              );
              waiting.push(checked);
            }
          }
        }
        await Promise.all(waiting);
      }
    }
  }
  expect(requests).toBe(12 * 8 * 4 * 5 * 2 * 3);
  expect(acted.length - before).toBe(legal);
  console.log(`${requests} requests, ${legal} of them legal changes, ${acted.length - before} changes`);
});

describe("serveDashboard", () => {
  const json = () => ({ host: here(), "content-type": "application/json" });

  test("refuses what a form can send, a wrong proof, long bodies and what is no JSON", async () => {
    const real = await session();
    const before = acted.length;
    expect((await ask("POST", "/act", { ...json(), ...real, "content-type": "text/plain" }, "{}")).code).toBe(415);
    expect((await ask("POST", "/act", { ...json(), cookie: real.cookie }, "{}")).code).toBe(403);
    expect((await ask("POST", "/act", { ...json(), ...real, [PROOF_HEADER]: "" }, "{}")).code).toBe(403);
    expect((await ask("POST", "/act", { ...json(), ...real }, `"${"x".repeat(70_000)}"`)).code).toBe(413);
    expect((await ask("POST", "/act", { ...json(), ...real }, "{")).code).toBe(400);
    expect(acted.length).toBe(before);
  });

  test("gives pages to everybody, news and exports only to a session, and nothing outside its folder", async () => {
    const real = await session();
    expect((await ask("GET", "/", { host: here() })).code).toBe(200);
    expect((await ask("GET", "/export?device=north", { host: here() })).code).toBe(401);
    const { code, headers } = await ask("GET", "/export?device=north", { host: here(), ...real });
    expect([code, headers["content-disposition"]]).toEqual([200, 'attachment; filename="model_.json"']);
    expect((await ask("GET", "/export?device=x", { host: here(), ...real })).code).toBe(404);
    for (const path of [
      "/../package.json",
      "/%2e%2e/package.json",
      "//etc/passwd",
      "/assets/../../package.json",
      "/x.html",
    ]) {
      expect((await ask("GET", path, { host: here(), ...real })).code, path).toBe(404);
    }
    for (const policy of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(headers["content-security-policy"]).toContain(policy);
    }
  });

  test("is not reached by a name that was made to point to this machine", async () => {
    // What a browser sends after evil.example has been resolved to 127.0.0.1: its own name, and the page's origin.
    const rebound = { ...json(), host: `evil.example:${dashboard.port}`, "sec-fetch-site": "same-origin" };
    for (const path of ["/", "/session", "/events", "/act"]) {
      expect((await ask("GET", path, rebound)).code).toBe(403);
      expect((await ask("POST", path, rebound, JSON.stringify({ token }))).code).toBe(403);
    }
  });
});

test("a malformed address is refused", async () => {
  expect(await ask("GET", "//", { host: here() })).toMatchObject({ code: 400 });
});

test("a thousand half-open or malformed requests, again and again, keep nobody from the page for a second", async () => {
  const taken = await askInStorm(dashboard.port, async () => {
    const { status } = await fetch(`http://${here()}/`, { headers: { connection: "close" } });
    expect(status).toBe(200);
    expect(await session()).toHaveProperty(PROOF_HEADER);
  });
  expect(taken).toBeLessThan(1000);
});

test("of many requests on one connection a few are answered", async () => {
  expect(await answeredInOneGo(dashboard.port, "/")).toBe(16);
});

describe("Sessions", () => {
  test("lock out who guesses for a minute after five wrong tokens, and never who has the right one", () => {
    let now = 0;
    const sessions = new Sessions("right", () => now);
    for (let i = 0; i < 5; i++) expect(sessions.open("wrong")).toBe("wrong");
    expect(sessions.open("wrong")).toBe("locked");
    expect(sessions.open("right")).toHaveProperty("proof");
    now = 60_001;
    expect(sessions.open("wrong")).toBe("wrong");
  });

  test("outlive a restart, end after half a day and with another token, and cannot be made up", () => {
    let now = 0;
    const session = new Sessions("right", () => now).open("right") as Session;
    const restarted = new Sessions("right", () => now);
    expect(restarted.find(session.id)).toEqual(session);
    expect(new Sessions("another", () => now).find(session.id)).toBeUndefined();
    const [until, nonce, signature] = session.id.split(".");
    for (const forged of [`${Number(until) + 1}.${nonce}.${signature}`, `${until}.${nonce}`, "", "..", undefined]) {
      expect(restarted.find(forged)).toBeUndefined();
    }
    now = 12 * 3_600_000;
    expect(restarted.find(session.id)).toBeUndefined();
  });
});
