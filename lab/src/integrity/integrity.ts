// npm run lab -- integrity [PART...] [--short]: members that lie about shared clusters, folders that are restored from a
// copy, and what rubbish costs. Exit 1 if a bar is missed.

import { sectionOf } from "../parts.ts";
import { forgedNetworks } from "./forgedNetworks.ts";
import { forgerProcesses } from "./forgerProcesses.ts";
import { frameCosts } from "./frameCosts.ts";
import { restoredFolders } from "./restoredFolders.ts";

export const run = sectionOf({
  forged: (isShort) => forgedNetworks({ networks: isShort ? 30 : 1_080 }),
  processes: (isShort) => forgerProcesses({ networks: isShort ? 2 : 15 }),
  restored: (isShort) => restoredFolders({ restores: isShort ? 8 : 100 }),
  costs: (isShort) => frameCosts({ seconds: isShort ? 5 : 20 }),
});
