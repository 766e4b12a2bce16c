// Masks alone, with 30 % of the frames lost: do all devices end on one exact fixed point of pooled k-means, how soon, and
// how good is it, from each seed?

import { fit, kmeans, type Matrix, predict, stack } from "@fedkm/core";
import { print } from "../measure.ts";
import { median } from "../quality/problems.ts";
import { judge, network, ROUND_MILLISECONDS, type SharedKind, settledAt, sharedProblem } from "./sharedNetwork.ts";

// The seed from masked sums against the federated seed, which shows sketches to all: how good is pooled k-means from each?

/** Of the networks, whose guarded devices must end within 1 % of the pooled cost. */
const GUARDED_SHARE = 0.9;
const everyone = Array.from({ length: 10 }, (_, i) => i);

/** Pooled k-means from the seed that `fit` floods, run to its end. */
function fromFederated(
  datasets: readonly Matrix[],
  { graph, seed }: ReturnType<typeof sharedProblem>,
  k: number,
): Matrix {
  const [start] = fit(datasets, graph, { k, alpha: 1, init: "federated", rounds: 0, seed }).centroids;
  return kmeans(stack(datasets), { k, init: start, maxIter: 10_000 }).centroids;
}

/** Clusters of single devices, at the best of ten, and how many of them have fewer rows than guarded ones need. */
function smallClusters({ datasets, study: { k, minimum } }: ReturnType<typeof sharedProblem>) {
  const { centroids } = kmeans(stack(datasets), { k, restarts: 10, seed: 1 });
  const sizes = datasets.flatMap((own) => {
    const counts = new Float64Array(k);
    for (const label of predict(centroids, own)) counts[label]++;
    return Array.from(counts).filter((count) => count > 0);
  });
  return { all: sizes.length, small: sizes.filter((size) => size < minimum).length };
}

export async function seedsCompared({ seeds }: { seeds: number }): Promise<boolean> {
  const heading = ["data", "networks", "masked, within 1e-4", "masked and guarded", "clusters below the minimum"];
  const rows = [[...heading, "federated seed"]];
  let isGood = true;
  for (const kind of ["iso", "var", "aniso", "skewed"] as readonly SharedKind[]) {
    const good = { open: 0, guarded: 0, federated: 0 };
    const clusters = { all: 0, small: 0 };
    for (let seed = 1; seed <= seeds; seed++) {
      for (const privacy of ["open", "guarded"] as const) {
        const given = sharedProblem(kind, seed, privacy);
        const simulated = await network(given);
        settledAt(simulated, everyone, 60_000);
        // A guarded device that holds too few rows of a cluster cannot say so: its end is that of the labels that count.
        const isNear = judge(simulated.centroids(), given.datasets).excess < (privacy === "open" ? 1e-4 : 1e-2);
        if (isNear) good[privacy]++;
      }
      const { all, small } = smallClusters(sharedProblem(kind, seed, "guarded"));
      clusters.all += all;
      clusters.small += small;
      const given = sharedProblem(kind, seed);
      const found = fromFederated(given.datasets, given, given.study.k);
      if (judge([found], given.datasets).excess < 1e-4) good.federated++;
    }
    isGood &&= good.open >= good.federated && good.guarded >= GUARDED_SHARE * seeds;
    const share = `${Math.round((100 * clusters.small) / clusters.all)} % of a device's`;
    rows.push([kind, String(seeds), String(good.open), `${good.guarded} (within 1e-2)`, share, String(good.federated)]);
  }
  print("Where pooled k-means ends from each seed, against the best of ten", rows);
  return isGood;
}

async function run(kind: SharedKind, seed: number) {
  const given = sharedProblem(kind, seed);
  const simulated = await network(given, { weather: { loss: 0.3 } });
  const at = settledAt(simulated, everyone, 120_000);
  const tellings = median(everyone.map((i) => simulated.status(i).shared?.tellings ?? Number.NaN));
  simulated.settle(60_000);
  return { at, tellings, ...judge(simulated.centroids(), given.datasets) };
}

export async function exactEnds({ seeds }: { seeds: number }): Promise<boolean> {
  const rows = [["data", "settled", "same bits", "exact (1e-9)", "within 1e-4", "tellings", "rounds"]];
  const papers: Awaited<ReturnType<typeof run>>[] = [];
  const line = (name: string, runs: typeof papers) => {
    const many = (is: (one: (typeof papers)[number]) => boolean) => `${runs.filter(is).length} of ${runs.length}`;
    const rounds = runs.map(({ at }) => (at ?? Number.POSITIVE_INFINITY) / ROUND_MILLISECONDS);
    rows.push([
      name,
      many(({ at }) => at !== undefined),
      many(({ isSame }) => isSame),
      many(({ step }) => step < 1e-9),
      many(({ excess }) => excess < 1e-4),
      `${median(runs.map(({ tellings }) => tellings))} (most ${Math.max(...runs.map(({ tellings }) => tellings))})`,
      `${Math.round(median(rounds))} (most ${Math.round(Math.max(...rounds))})`,
    ]);
  };
  for (const kind of ["iso", "var", "aniso", "skewed"] as const) {
    const runs = [];
    for (let seed = 1; seed <= seeds; seed++) runs.push(await run(kind, seed));
    line(kind, runs);
    if (kind !== "skewed") papers.push(...runs);
  }
  line("the paper's three", papers);
  print(
    `Masks alone, ten devices, 30 % of frames lost, ${seeds} seeds each (a round is ${ROUND_MILLISECONDS} ms)`,
    rows,
  );
  const isExact = papers.every(({ at, isSame, step }) => at !== undefined && isSame && step < 1e-9);
  const isSoon =
    // Ten before clusters began with a census, which is a generation more.
    median(papers.map(({ tellings }) => tellings)) <= 14 &&
    median(papers.map(({ at }) => at ?? Number.POSITIVE_INFINITY)) <= 18 * ROUND_MILLISECONDS;
  const isGood = papers.filter(({ excess }) => excess < 1e-4).length >= papers.length * (148 / 150);
  return isExact && isSoon && isGood;
}
