// The numbers of a device over HTTP are there for its owner, whatever other users of the machine do.

import { expect, test } from "vitest";
import { answeredInOneGo, askInStorm } from "../../../test/storm.ts";
import { serveStatus } from "../../src/daemon/server.ts";
import { northStatus } from "./northStatus.ts";

test("a thousand half-open or malformed requests, again and again, keep nobody from /metrics for a second", async () => {
  const server = await serveStatus(0, () => northStatus);
  const taken = await askInStorm(server.port, async () => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { connection: "close" } });
    expect(await answer.text()).toContain("fedkm_settled 1");
  });
  expect(taken).toBeLessThan(1000);
  server.close();
});

test("of many requests on one connection a few are answered", async () => {
  const server = await serveStatus(0, () => northStatus);
  expect(await answeredInOneGo(server.port, "/metrics")).toBe(16);
  server.close();
});
