// Masks alone, with 30 % of the frames lost: do all devices end on one exact fixed point of pooled k-means, how soon, and
// how good is it?

import { print } from "../measure.ts";
import { median } from "../quality/setting.ts";
import { judge, network, ROUND_MILLISECONDS, type SharedKind, settledAt, sharedProblem } from "./setting.ts";

const everyone = Array.from({ length: 10 }, (_, i) => i);

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
    median(papers.map(({ tellings }) => tellings)) <= 10 &&
    median(papers.map(({ at }) => at ?? Number.POSITIVE_INFINITY)) <= 18 * ROUND_MILLISECONDS;
  const isGood = papers.filter(({ excess }) => excess < 1e-4).length >= papers.length * (148 / 150);
  return isExact && isSoon && isGood;
}
