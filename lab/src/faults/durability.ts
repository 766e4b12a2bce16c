// What a device's store finds after losses of power, flipped bytes and failing writes, on a simulated disk.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryDurability } from "@fedkm/device/daemon";
import { print } from "../measure.ts";

/** The bar: nothing lost, nothing unnoticed, no epoch that goes back. */
export async function durability(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-durability-"));
  try {
    const { crashes, flips, failures } = await tryDurability(folder);
    print("The store on a simulated disk", [
      ["what happened", "tried", "found at the next start", "epochs that went back"],
      [
        "power lost after every call of a session",
        `${crashes.states} states of the disk`,
        `${crashes.loadOld} exactly old, ${crashes.loadNew} exactly new, ${crashes.undone} undone`,
        String(crashes.epochsBack),
      ],
      [
        "every byte of every copy flipped, three ways",
        `${flips.tried} flips of ${flips.bytes} bytes`,
        `${flips.detected} detected, ${flips.otherUsed} times the other copy used`,
        String(flips.epochsBack),
      ],
      [
        "disk full at every call, for once and for ever",
        `${failures.tried} failures`,
        `${failures.losses} losses of the old state`,
        String(failures.epochsBack),
      ],
    ]);
    const isWhole = crashes.loadOld + crashes.loadNew === crashes.states && crashes.undone === 0;
    const isNoticed = flips.detected === flips.tried && flips.otherUsed === flips.tried;
    return isWhole && isNoticed && crashes.epochsBack + flips.epochsBack + failures.epochsBack + failures.losses === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
