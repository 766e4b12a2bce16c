// npm run lab -- quality [--seed S] [--only PART,...]: is the answer right, every time? The figures of docs/quality.md.

import { parseArgs } from "node:util";
import { checkNames, UsageError } from "../parts.ts";
import { infection, wrongNetworks } from "./basins.ts";
import { alphaChosen, kChosen, kindsChosen } from "./choose.ts";
import { communitiesApart } from "./communities.ts";
import { consensusLevel, relaxationPace } from "./consensus.ts";
import { everybody } from "./everybody.ts";
import { guardedPrice } from "./guarded.ts";
import { labelSkew, manyClusters } from "./hard.ts";
import { linksChosen, penaltiesCompared } from "./links.ts";
import { settling } from "./settling.ts";
import { traffic } from "./traffic.ts";

const parts: Record<string, (first: number) => void> = {
  basins: wrongNetworks,
  infection,
  consensus: consensusLevel,
  relaxation: relaxationPace,
  settling,
  skew: labelSkew,
  clusters: manyClusters,
  communities: (seed) => {
    communitiesApart(seed);
    penaltiesCompared(seed);
  },
  links: linksChosen,
  k: kChosen,
  kinds: kindsChosen,
  alpha: alphaChosen,
  traffic,
  everybody,
  guarded: guardedPrice,
};

export function run(args: string[]): void {
  const { values } = parseArgs({ args, options: { seed: { type: "string", default: "0" }, only: { type: "string" } } });
  const first = Number(values.seed);
  if (!Number.isSafeInteger(first)) throw new UsageError(`--seed must be an integer, got ${values.seed}`);
  const names = values.only?.split(",") ?? Object.keys(parts);
  checkNames("a part", names, Object.keys(parts));
  for (const name of names) parts[name](first);
}
