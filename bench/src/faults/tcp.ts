// Everything that is measured over real TCP, in a short form of about two minutes and a whole one of about half an hour.

import { flood, malformed, stalled, strangers } from "./tcpAttacks.ts";
import { clockSteps } from "./tcpClock.ts";
import { bytesOfAChange, deviceCosts, silence } from "./tcpCosts.ts";
import { faultsOverTcp } from "./tcpFaults.ts";
import { agreement, kills } from "./tcpProcesses.ts";

/** Prints each section; resolves to those that missed their bar. */
export async function tcpFaults(isShort: boolean): Promise<string[]> {
  const sections: readonly (readonly [string, () => Promise<boolean>])[] = [
    ["costs of a device", deviceCosts],
    ["bytes of a change", bytesOfAChange],
    ["silence when settled", () => silence({ seconds: isShort ? 5 : 65 })],
    ["agreement of ten processes", () => agreement({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] })],
    ["kill -9", () => kills({ times: isShort ? 6 : 200 })],
    ["strangers", () => strangers({ count: isShort ? 50 : 1_000 })],
    ["flood", () => flood({ seconds: isShort ? 3 : 20 })],
    ["malformed frames", () => malformed({ frames: isShort ? 400 : 10_000 })],
    ["stalled senders", () => stalled({ peers: isShort ? 4 : 16 })],
    ["clock steps", clockSteps],
    ["faults", () => faultsOverTcp({ seeds: isShort ? [1] : [1, 2, 3] })],
  ];
  const missed: string[] = [];
  for (const [name, run] of sections) if (!(await run())) missed.push(name);
  return missed;
}
