// The follow-up's fourth and sixth experiments: all its methods on small data, drawn and real, and on a user's own features.

import type { LabelledPoints } from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import {
  type Cell,
  type DatasetName,
  followUpBaselines,
  followUpSetting,
  localSetting,
  seedOfRun,
  startTitles,
} from "../cell.ts";
import { kinds } from "./figures.ts";
import { followUpNames, type Measure } from "./grid.ts";
import { type Plan, type Planner, type PlanOptions, runNumbers } from "./plan.ts";

interface Compared {
  readonly dataset: DatasetName;
  readonly devices: number;
  readonly pointsPerDevice: number | null;
  readonly k: number;
}

const RHOS = [1, 10, 100];

export const comparison: Planner = (options) =>
  comparisonPlan("comparison", options, {}, [
    ...kinds.map((dataset) => ({ dataset, devices: 10, pointsPerDevice: 200, k: 3 })),
    { dataset: "iris", devices: 5, pointsPerDevice: null, k: 3 },
    { dataset: "digits", devices: 10, pointsPerDevice: null, k: 10 },
  ]);

/** As the follow-up runs CIFAR-10: more rounds and passes, as many clusters as classes. */
export function featuresPlan({ labels }: LabelledPoints, devices: number, options: PlanOptions): Plan {
  const set = { dataset: "features" as const, devices, pointsPerDevice: null, k: new Set(labels).size };
  return comparisonPlan("features", options, { rounds: 500, passes: 20 }, [set]);
}

const COMPONENTS = 50;

/** Wider points become their 50 principal components, as in the follow-up's study of CIFAR-10. */
export function reducedFeatures({ points, labels }: LabelledPoints): LabelledPoints {
  return { points: points.cols > COMPONENTS ? principalComponents(points, COMPONENTS) : points, labels };
}

/** Forero's benchmark: 30 devices on a geometric network with few links, over 300 rounds. */
export const benchmark: Planner = (options) => {
  const sets = kinds.map((dataset) => ({ dataset, devices: 30, pointsPerDevice: 50, k: 3 }));
  return comparisonPlan("benchmark", options, { network: "geometric", edgeProbability: null, rounds: 300 }, sets);
};

function comparisonPlan(study: string, options: PlanOptions, special: Partial<Cell>, sets: readonly Compared[]): Plan {
  const { passes: morePasses, ...common } = special;
  const isFeatures = study === "features";
  const cells = sets.flatMap((set) =>
    runNumbers(options).flatMap((run): Cell[] => {
      const drawn = { study, ...set, run, seed: seedOfRun(options.seed, run) };
      const linked = { ...drawn, ...common, ...(options.quick && { rounds: 30 }) };
      return [
        { ...localSetting, ...drawn },
        { ...localSetting, ...drawn, method: "pooled" },
        ...options.starts.flatMap((start): Cell[] => [
          ...(["fedkm", "fedkm-ot"] as const).map((method) => ({
            ...followUpSetting(start),
            ...(start !== "dependable" && morePasses !== undefined && { passes: morePasses }),
            ...linked,
            method,
          })),
          ...followUpBaselines(start, RHOS)
            .flatMap((cell) => (isFeatures && cell.method === "distributed" ? [cell, sharedStart(cell)] : [cell]))
            .map((cell) => ({ ...cell, ...linked })),
        ]),
      ];
    }),
  );
  return { cells, pictures: pictures(study, options, sets), figures: [] };
}

/** In the study of CIFAR-10 the follow-up also lets all devices begin where one does. */
function sharedStart<T extends object>(cell: T): T & { method: "distributed-shared" } {
  return { ...cell, method: "distributed-shared" };
}

const measures: readonly { readonly label: string; readonly measure: Measure }[] = [
  { label: "GCD", measure: "gcd_aligned" },
  { label: "CV", measure: "cv_aligned" },
  { label: "NMI, own points", measure: "nmi_own" },
];

function pictures(study: string, { starts }: PlanOptions, sets: readonly Compared[]): Plan["pictures"] {
  const titles: { readonly [study: string]: string } = {
    comparison: "Comparison on small data: α = 1, p = 0.7",
    features: "Comparison on your features: α = 1, p = 0.7",
    benchmark: "A network like that of Forero's benchmark: 30 devices, geometric",
  };
  return starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: titles[study],
      caption: `Start: ${startTitles[start]}.`,
      rows: sets.map(({ dataset }) => ({ label: dataset, where: { study, dataset, start } })),
      columns: measures
        .filter(({ measure }) => measure !== "nmi_own" || study !== "benchmark")
        .map((column) => ({ ...column, where: {} })),
      summary: "mean" as const,
      entries: [
        ...(["fedkm", "fedkm-ot"] as const).map((method) => ({
          label: followUpNames[method],
          method,
          where: { method },
        })),
        { label: "Distributed k-means", method: "distributed", where: { method: "distributed" } },
        ...(study === "features"
          ? [{ label: "Distributed, shared start", method: "distributed", where: { method: "distributed-shared" } }]
          : []),
        ...RHOS.map((rho) => ({ label: `DGC-KM, ρ ${rho}`, method: "gradient", where: { method: "gradient", rho } })),
        { label: "Local k-means", method: "local", where: { method: "local" } },
        { label: "Pooled k-means", method: "pooled", where: { method: "pooled" } },
      ],
    },
  }));
}
