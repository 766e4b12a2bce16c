import { expect, test } from "vitest";
import { commandCoreTime } from "../src/commands/fit/stabilityLater.ts";

test("coreTime counts time once in which the library works in two places", async () => {
  let time = 0;
  const core = commandCoreTime(() => time);
  const lasting = (milliseconds: number) => () => {
    time += milliseconds;
    return milliseconds;
  };
  expect(await core.measure(lasting(5))).toBe(5);
  time = 10;
  await core.measure(lasting(5));
  // 12 ... 20 overlaps 10 ... 15; 13 ... 14 lies within both.
  core.add({ from: 12, to: 20 });
  core.add({ from: 13, to: 14 });
  expect(core.milliseconds()).toBe(5 + 10);
});

test("coreTime counts the time of work that fails", async () => {
  let time = 0;
  const core = commandCoreTime(() => time);
  const failing = async () => {
    time = 3;
    throw new Error("of the work");
  };
  await expect(core.measure(failing)).rejects.toThrow("of the work");
  expect(core.milliseconds()).toBe(3);
});
