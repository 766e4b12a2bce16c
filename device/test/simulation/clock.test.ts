import { randomStream } from "@fedkm/core";
import { describe, expect, it, vi } from "vitest";
import { realClock } from "../../src/environment.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";

describe("simulatedClock()", () => {
  it("runs events in the order of their times, and those of one time in the order in which they were set", () => {
    const random = randomStream(1, "clock");
    const clock = simulatedClock();
    const set: { at: number; order: number }[] = [];
    const ran: { at: number; order: number }[] = [];
    const add = () => {
      const event = { at: clock.now() + Math.floor(20 * random()), order: set.length };
      set.push(event);
      const cancel = clock.after(event.at - clock.now(), () => {
        expect(clock.now()).toBe(event.at);
        ran.push(event);
        if (set.length < 3000) add();
        if (set.length < 3000) add();
      });
      if (random() < 0.1) {
        cancel();
        set.pop();
        set.push({ at: Number.NaN, order: event.order });
      }
    };
    for (let i = 0; i < 100; i++) add();
    while (clock.step(1e9));
    const expected = set.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => a.at - b.at || a.order - b.order);
    expect(ran.length).toBeGreaterThan(1000);
    expect(ran).toEqual(expected);
  });

  it("does not run beyond the given time, which passes all the same", () => {
    const clock = simulatedClock();
    let ran = 0;
    clock.after(10, () => ran++);
    expect(clock.step(9)).toBe(false);
    expect([clock.now(), ran]).toEqual([9, 0]);
    expect(clock.step(10)).toBe(true);
    expect([clock.now(), ran]).toEqual([10, 1]);
    // What lies in the past runs now.
    clock.after(-5, () => ran++);
    expect(clock.step(10)).toBe(true);
    expect([clock.now(), ran]).toEqual([10, 2]);
  });
});

describe("realClock", () => {
  it("does not follow the wall clock", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const before = realClock.now();
      vi.setSystemTime(Date.now() + 10 * 365 * 86_400_000);
      expect(realClock.now() - before).toBeLessThan(60_000);
      vi.setSystemTime(Date.now() - 20 * 365 * 86_400_000);
      expect(realClock.now()).toBeGreaterThanOrEqual(before);
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not run at once what is further away than a timer can hold", async () => {
    let ran = false;
    const cancel = realClock.after(2 ** 33, () => {
      ran = true;
    });
    await new Promise((done) => realClock.after(20, () => done(undefined)));
    cancel();
    expect(ran).toBe(false);
  });
});
