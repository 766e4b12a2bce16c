// What guarded rows cost: the distance from the pooled answer, open and guarded, beside that of devices alone.

import { type FitModel, type FitOptions, fit, globalCentroidDeviation } from "@fedkm/core";
import { print } from "../table.ts";
import { kinds, type Setting, setting } from "./setting.ts";

const SEEDS = 20;
const SIZES = [100, 200, 800];

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function fitted({ datasets, network, seed }: Setting, options: Partial<FitOptions>): FitModel {
  return fit(datasets, network, { k: 3, alpha: 1, seed, ...options });
}

export function guardedPrice(first: number): void {
  const rows = kinds.flatMap((kind) =>
    SIZES.map((m) => {
      const settings = Array.from({ length: SEEDS }, (_, s) => setting(kind, m, first + s));
      const deviation = (models: readonly FitModel[]) =>
        median(models.map(({ centroids }, s) => globalCentroidDeviation(centroids, settings[s].reference)));
      const run = (options: Partial<FitOptions>) => settings.map((at) => fitted(at, options));
      const open = deviation(run({}));
      const guarded = run({ privacy: "guarded" });
      const summaries = guarded.flatMap(({ guarded: summary }) => (summary === undefined ? [] : [summary]));
      const held =
        summaries.reduce((sum, { rowsHeldBack }) => sum + rowsHeldBack, 0) / (SEEDS * settings[0].datasets.length * m);
      return [
        kind,
        String(m),
        deviation(run({ alpha: 0 })).toExponential(1),
        open.toExponential(1),
        deviation(guarded).toExponential(1),
        (deviation(guarded) / open).toFixed(1),
        (deviation(run({ privacy: "guarded", minimum: 5 })) / open).toFixed(1),
        `${(100 * held).toFixed(2)} %`,
        String(Math.min(...summaries.map(({ smallestClass }) => smallestClass))),
      ];
    }),
  );
  const head = ["data", "m", "alone", "open", "guarded", "ratio", "ratio, minimum 5", "held back", "smallest class"];
  print(`guarded rows: GCD, medians of ${SEEDS} seeds, ten devices, p = 0.7, alpha = 1, minimum 10`, [head, ...rows]);
}
