import { expect, test } from "vitest";
import { isSettled } from "../../src/loop/status.ts";

const heard = { isConnected: true, age: 20 };
const quiet = { phase: "settled", move: 1e-8 } as const;
const moving = { phase: "moving", move: 4e-6 } as const;

test("isSettled asks for nothing to send and for every neighbour to be heard and connected", () => {
  expect(isSettled(quiet, [heard, heard])).toBe(true);
  expect(isSettled(moving, [heard])).toBe(false);
  expect(isSettled(quiet, [heard, { isConnected: true, age: null }])).toBe(false);
  expect(isSettled(quiet, [heard, { isConnected: false, age: 20 }])).toBe(false);
});

test("isSettled of a device without neighbours asks for nothing to send", () => {
  expect(isSettled(quiet, [])).toBe(true);
  expect(isSettled({ phase: "waiting", move: null }, [])).toBe(false);
});

test("isSettled with enoughMove takes a smaller last move for nothing to send, and no move for none", () => {
  expect(isSettled(moving, [heard], 1e-5)).toBe(true);
  expect(isSettled(moving, [heard], 1e-6)).toBe(false);
  expect(isSettled({ phase: "starting", move: null }, [heard], 1e-5)).toBe(false);
  expect(isSettled(moving, [{ isConnected: false, age: 20 }], 1e-5)).toBe(false);
});
