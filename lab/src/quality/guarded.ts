// What guarded rows cost: the distance from the pooled answer, open and guarded, beside that of devices alone.

import { type FitModel, type FitOptions, fit, globalCentroidDeviation } from "@fedkm/core";
import { print } from "../measure.ts";
import { kinds, median, type Setting, setting } from "./problems.ts";

/** Of fewer the medians jump: a single row that is held back doubles the distance of a small network. */
const SEEDS = 60;
const SIZES = [100, 200, 800];
/** Guarded runs are at most so many times as far from the pooled answer as open ones, in the median. */
const BAR = 2;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function fitted({ datasets, network, seed }: Setting, options: Partial<FitOptions>): FitModel {
  return fit(datasets, network, { k: 3, alpha: 1, seed, ...options });
}

export function guardedPrice(first: number): void {
  const missed: string[] = [];
  const rows = kinds.flatMap((kind) =>
    SIZES.map((m) => {
      const settings = Array.from({ length: SEEDS }, (_, s) => setting(kind, m, first + s));
      const deviations = (models: readonly FitModel[]) =>
        models.map(({ centroids }, s) => globalCentroidDeviation(centroids, settings[s].reference));
      const run = (options: Partial<FitOptions>) => settings.map((at) => fitted(at, options));
      const models = run({ privacy: "guarded" });
      const [open, guarded] = [deviations(run({})), deviations(models)];
      const fewer = deviations(run({ privacy: "guarded", minimum: 5 }));
      const summaries = models.flatMap(({ guarded: summary }) => (summary === undefined ? [] : [summary]));
      const held = mean(summaries.map(({ rowsHeldBack }) => rowsHeldBack)) / (settings[0].datasets.length * m);
      const ratio = median(guarded) / median(open);
      if (ratio > BAR) missed.push(`${kind} ${m}`);
      return [
        kind,
        String(m),
        median(deviations(run({ alpha: 0 }))).toExponential(1),
        median(open).toExponential(1),
        median(guarded).toExponential(1),
        ratio.toFixed(1),
        (mean(guarded) / mean(open)).toFixed(1),
        `${guarded.filter((own, s) => own <= BAR * open[s]).length} of ${SEEDS}`,
        (median(fewer) / median(open)).toFixed(1),
        `${(100 * held).toFixed(2)} %`,
        mean(models.map(({ rounds }) => rounds)).toFixed(0),
        String(Math.min(...summaries.map(({ smallestClass }) => smallestClass))),
      ];
    }),
  );
  const ratios = ["ratio", "of means", `at most ${BAR}`, "ratio, minimum 5"];
  const head = ["data", "m", "alone", "open", "guarded", ...ratios, "held back", "rounds", "smallest class"];
  print(`guarded rows: GCD, medians of ${SEEDS} seeds, ten devices, p = 0.7, alpha = 1, minimum 10`, [head, ...rows]);
  console.log(`a ratio of at most ${BAR}: ${missed.length === 0 ? "everywhere" : `not in ${missed.join(", ")}`}`);
}
