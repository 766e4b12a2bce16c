// Real data, dealt evenly: iris on 5 devices, digits on 10, and a user's own features, with NMI against their classes.

import type { LabelledPoints } from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import { type DatasetName, localSetting, paperSetting, seedOfRun, startTitles } from "../cell.ts";
import { type Plan, type Planner, type PlanOptions, runNumbers } from "./plan.ts";

interface Given {
  readonly dataset: DatasetName;
  readonly devices: number;
  readonly k: number;
}

const strengths = [0, 0.5, 1];

export const smallReal: Planner = (options) =>
  realPlan("small-real", options, [
    { dataset: "iris", devices: 5, k: 3 },
    { dataset: "digits", devices: 10, k: 10 },
  ]);

/** The same study on points of the user's, such as CIFAR-10: as many clusters as classes. */
export function featuresPlan({ labels }: LabelledPoints, devices: number, options: PlanOptions): Plan {
  return realPlan("features", options, [{ dataset: "features", devices, k: new Set(labels).size }]);
}

const COMPONENTS = 50;

/** Wider points become their 50 principal components, as in the paper's study of CIFAR-10. */
export function reducedFeatures({ points, labels }: LabelledPoints): LabelledPoints {
  return { points: points.cols > COMPONENTS ? principalComponents(points, COMPONENTS) : points, labels };
}

function realPlan(study: string, options: PlanOptions, sets: readonly Given[]): Plan {
  const cells = sets.flatMap((given) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study, ...given, pointsPerDevice: null, run, seed: seedOfRun(options.seed, run) };
      return [
        { ...localSetting, ...drawn },
        { ...localSetting, ...drawn, method: "pooled" as const },
        ...options.starts.flatMap((start) => [
          ...strengths.map((alpha) => ({ ...paperSetting, ...drawn, start, alpha })),
          { ...paperSetting, ...drawn, start, method: "distributed" as const, alpha: null },
        ]),
      ];
    }),
  );
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Real data: NMI with the classes, GCD to the pooled solution",
      caption: `Mean and standard error over the runs, p = 0.7. Start: ${startTitles[start]}.`,
      rows: sets.map(({ dataset }) => ({ label: dataset, where: { study, dataset, start } })),
      columns: [
        { label: "NMI", where: {}, measure: "nmi" as const },
        { label: "GCD (pooled itself is at 0)", where: {}, measure: "gcd" as const },
      ],
      x: { column: "alpha", label: "alpha", ticks: strengths },
      measure: "gcd" as const,
      methods: ["fedkm", "local", "distributed", "pooled"],
    },
  }));
  return { cells, pictures, figures: [] };
}
