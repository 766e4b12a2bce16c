// npm run quality [-- --seed S]: is the answer right, every time? The figures of docs/quality.md.

import { parseArgs } from "node:util";
import { infection, wrongNetworks } from "./quality/basins.ts";
import { communitiesApart } from "./quality/communities.ts";
import { consensusLevel, relaxationPace } from "./quality/consensus.ts";
import { labelSkew, manyClusters } from "./quality/hard.ts";
import { traffic } from "./quality/traffic.ts";

const { values } = parseArgs({ options: { seed: { type: "string", default: "0" } } });
const first = Number(values.seed);
if (!Number.isSafeInteger(first)) {
  console.error(`quality: --seed must be an integer, got ${values.seed}`);
  process.exit(2);
}

for (const section of [
  wrongNetworks,
  infection,
  consensusLevel,
  relaxationPace,
  labelSkew,
  manyClusters,
  communitiesApart,
  traffic,
]) {
  section(first);
}
