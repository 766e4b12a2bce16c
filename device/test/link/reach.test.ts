// At which address a peer is reached, and how long each of them may take to answer.

import { expect, test, vi } from "vitest";
import { ANSWER_MILLISECONDS } from "../../src/link/limits.ts";
import { firstAnswer } from "../../src/link/reach.ts";

test("firstAnswer gives up an address that does not answer in time, and lets the last one take the whole attempt", async () => {
  const patience = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort(new Error("no answer")));
  const { signal } = new AbortController();
  const failed: string[] = [];
  const dialled: [string, boolean][] = [];
  const answer = await firstAnswer({
    addresses: ["/ip4/192.0.2.1/tcp/1", "/ip4/192.0.2.2/tcp/2"],
    signal,
    async dial(address, given) {
      dialled.push([address, given === signal]);
      given.throwIfAborted();
      return address;
    },
    isDirect: () => false,
    onFailure: (address) => failed.push(address),
  });
  expect(answer).toBe("/ip4/192.0.2.2/tcp/2");
  expect(dialled).toEqual([
    ["/ip4/192.0.2.1/tcp/1", false],
    ["/ip4/192.0.2.2/tcp/2", true],
  ]);
  expect(failed).toEqual(["/ip4/192.0.2.1/tcp/1"]);
  expect(patience.mock.calls).toEqual([[ANSWER_MILLISECONDS]]);
  patience.mockRestore();
});
