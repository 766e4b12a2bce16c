import { describe, expect, it } from "vitest";
import { Stopped, stoppable, untilStopped } from "../src/stop.ts";

const listeners = () => ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"].map((event) => process.listenerCount(event));

describe("stoppable(work)", () => {
  it.each([
    ["SIGINT", 130, "interrupted"],
    ["SIGTERM", 143, "stopped by SIGTERM"],
    ["SIGHUP", 129, "stopped by SIGHUP"],
    ["disconnect", 129, "stopped by disconnect"],
  ] as const)("aborts its signal at %s, whose exit code is %i", async (event, exitCode, message) => {
    const work = stoppable(async (signal) => {
      const reason = await untilStopped(signal);
      signal.throwIfAborted();
      return reason;
    });
    // @ts-expect-error "disconnect" is an event of processes with a channel.
    process.emit(event);
    await expect(work).rejects.toMatchObject({ name: "Stopped", event, exitCode, message });
  });

  it("calls instead of stopping at SIGHUP where its work outlives a terminal, and stops at the others", async () => {
    let hangups = 0;
    const work = stoppable(
      async (signal) => {
        for (let n = 0; n < 2; n++) process.emit("SIGHUP");
        expect([hangups, signal.aborted]).toEqual([2, false]);
        process.emit("SIGTERM");
        return (await untilStopped(signal)).event;
      },
      () => {
        hangups += 1;
      },
    );
    expect(await work).toBe("SIGTERM");
  });

  it("listens once, and not after the work has ended, however it ends", async () => {
    const before = listeners();
    const work = stoppable(async (signal) => {
      expect(listeners()).toEqual(before.map((count) => count + 1));
      process.emit("SIGTERM");
      expect(listeners()).toEqual(before);
      return (await untilStopped(signal)).event;
    });
    expect(await work).toBe("SIGTERM");
    await expect(stoppable(() => Promise.reject(new Error("another reason")))).rejects.toThrow("another reason");
    expect(await stoppable(async () => 7)).toBe(7);
    expect(listeners()).toEqual(before);
  });
});

describe("Stopped", () => {
  it("says what is kept, if something is", () => {
    expect(new Stopped("SIGINT", "3 of 4 are kept").message).toBe("interrupted: 3 of 4 are kept");
  });
});
