// npm run lab -- quality [--seed S] [--only PART,...]: is the answer right, every time? The figures of docs/quality.md.

import { parseArgs } from "node:util";
import { globalCentroidDeviation, type Method, methods } from "@fedkm/core";
import { countLabel, significantLabel } from "@fedkm/pictures";
import { print } from "../measure.ts";
import { checkNames, UsageError } from "../parts.ts";
import { alphaChosen, kChosen, kindsChosen } from "./choose.ts";
import { consensusLevel, relaxationPace, settling } from "./consensus.ts";
import { everybody } from "./everybody.ts";
import { betterStarts, guardedGrowth, years } from "./growth.ts";
import { guardedPrice } from "./guarded.ts";
import { infection, labelSkew, manyClusters, wrongNetworks } from "./hard.ts";
import { communitiesApart, groupsChosen, linksChosen, penaltiesCompared } from "./links.ts";
import { setting } from "./problems.ts";
import { numbersChosen, verdictsGiven } from "./verdict.ts";

// Every method on one problem: how near to pooled k-means, and what it sent.

export function traffic(first: number): void {
  const { datasets, network, reference, seed } = setting("var", 100, first + 1);
  const kilobytes = (bytes: number) => (bytes >= 1e5 ? countLabel(Math.round(bytes / 1e3)) : (bytes / 1e3).toFixed(1));
  const rows = Object.entries<Method>(methods).map(([name, method]) => {
    const { centroids, messages, bytes, collector } = method(datasets, network, { k: 3, alpha: 1, seed });
    const deviation = significantLabel(globalCentroidDeviation(centroids, reference), 2);
    const sent = [countLabel(messages), kilobytes(bytes), collector === undefined ? "" : kilobytes(collector.bytes)];
    return [name, deviation, ...sent, method.travels ?? "centroids"];
  });
  print("every method on one problem: var, m = 100, p = 0.7", [
    ["method", "GCD", "messages", "kB", "kB with a collector", "what travels"],
    ...rows,
  ]);
}

const parts: Record<string, (first: number) => void | Promise<void>> = {
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
  groups: groupsChosen,
  verdict: verdictsGiven,
  numbers: numbersChosen,
  k: kChosen,
  kinds: kindsChosen,
  alpha: alphaChosen,
  traffic,
  everybody,
  guarded: guardedPrice,
  growth: guardedGrowth,
  years,
  jumps: betterStarts,
};

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seed: { type: "string", default: "0" }, only: { type: "string" } } });
  const first = Number(values.seed);
  if (!Number.isSafeInteger(first)) throw new UsageError(`--seed must be an integer, got ${values.seed}`);
  const names = values.only?.split(",") ?? Object.keys(parts);
  checkNames("a part", names, Object.keys(parts));
  for (const name of names) await parts[name](first);
}
