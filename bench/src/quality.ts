// npm run quality [-- --seed S] [--only name,name]: is the answer right, every time? The figures of docs/quality.md.

import { parseArgs } from "node:util";
import { infection, wrongNetworks } from "./quality/basins.ts";
import { alphaChosen, kChosen, kindsChosen } from "./quality/choose.ts";
import { communitiesApart } from "./quality/communities.ts";
import { consensusLevel, relaxationPace } from "./quality/consensus.ts";
import { everybody } from "./quality/everybody.ts";
import { guardedPrice } from "./quality/guarded.ts";
import { labelSkew, manyClusters } from "./quality/hard.ts";
import { linksChosen, penaltiesCompared } from "./quality/links.ts";
import { settling } from "./quality/settling.ts";
import { traffic } from "./quality/traffic.ts";

const sections: Record<string, (first: number) => void> = {
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

const { values } = parseArgs({ options: { seed: { type: "string", default: "0" }, only: { type: "string" } } });
const first = Number(values.seed);
if (!Number.isSafeInteger(first)) fail(`--seed must be an integer, got ${values.seed}`);
const names = values.only?.split(",") ?? Object.keys(sections);
const unknown = names.find((name) => !Object.hasOwn(sections, name));
if (unknown !== undefined) fail(`--only must name ${Object.keys(sections).join(", ")}, got ${unknown}`);

for (const name of names) sections[name](first);

function fail(message: string): never {
  console.error(`quality: ${message}`);
  process.exit(2);
}
