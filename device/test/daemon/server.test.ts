// The numbers of a device over HTTP are there for its owner, whatever other users of the machine do.

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { serveStatus } from "../../src/daemon/server.ts";
import { northStatus } from "./northStatus.ts";

test("a thousand half-open or malformed requests keep nobody from /metrics", async () => {
  const server = await serveStatus(0, () => northStatus);
  await fetch(`http://127.0.0.1:${server.port}/healthz`);
  const idle = Array.from({ length: 1000 }, () => connect(server.port, "127.0.0.1").on("error", () => undefined));
  // Who is malformed is turned away at once and frees its place, so most are only slow.
  for (const [i, socket] of idle.entries()) socket.write(i % 50 > 0 ? "GET /metrics HT" : "\0\r\n\r\n");
  await once(idle[999], "connect");
  await pause(500);
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { connection: "close" } });
  expect(await answer.text()).toContain("fedkm_settled 1");
  for (const socket of idle) socket.destroy();
  server.close();
});
