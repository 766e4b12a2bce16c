// The studies of the follow-up by the paper's authors: effect of alpha, sample size, connectivity, update regimes,
// comparison (also on a user's own features), two communities, and a network like that of Forero's benchmark.

import type { LabelledPoints } from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import { localSetting, paperSetting, type StartName, type StudyCell, seedOfRun, startTitles } from "../cell.ts";
import { kinds, paperSizes } from "./figures.ts";
import { type PanelGrid, type Plan, type Planner, type PlanOptions, plannedRuns } from "./plan.ts";

/** Algorithm 1 with either coupling. */
const couplings = ["fedkm", "fedkm-ot"] as const;

/** The follow-up's names of methods. */
const followUpNames = { fedkm: "FedKM-NC", "fedkm-ot": "FedKM-OT", gradient: "DGC-KM" } as const;

/** Its updates: all devices at once, at most ten passes, undamped, with its safeguard and its threshold. */
const followUpUpdates = { schedule: "simultaneous", damping: 1, passes: 10, tol: 1e-6, safeguard: true } as const;

/** Algorithm 1 as the follow-up runs it; from the auto start as `fit` runs it. */
function followUpSetting(start: StartName) {
  return start === "auto" ? { ...paperSetting, start } : { ...paperSetting, ...followUpUpdates, start };
}

/** Its baselines: Forero's with eta 1, and DGC-KM. */
function baselines(start: StartName, rhos: readonly number[]) {
  const common = { ...paperSetting, start, alpha: null };
  return [
    { ...common, method: "distributed" as const, eta: 1 },
    ...rhos.map((rho) => ({ ...common, method: "gradient" as const, rho })),
  ];
}

/** What a cell says of its problem, and what a study changes in all its cells. */
type Drawn = Pick<StudyCell, "study" | "dataset" | "run" | "seed"> & Partial<StudyCell>;

/** Both couplings with every alpha, and the baselines. */
function linkedCells(start: StartName, drawn: Drawn, alphas: readonly number[], rhos: readonly number[]): StudyCell[] {
  return [
    ...alphas.flatMap((alpha) => couplings.map((method) => ({ ...followUpSetting(start), ...drawn, method, alpha }))),
    ...baselines(start, rhos).map((cell) => ({ ...cell, ...drawn })),
  ];
}

/** GCD and CV side by side, as the follow-up measures them. */
const alignedColumns = [
  { label: "GCD", where: {}, measure: "gcd_aligned" },
  { label: "CV", where: {}, measure: "cv_aligned" },
];

/** A row of panels for each kind of data, with a line for each method, unless `shown` says otherwise. */
function linePictures(
  study: string,
  { starts }: PlanOptions,
  { note = "", ...shown }: Pick<PanelGrid, "title" | "x"> & Partial<PanelGrid> & { readonly note?: string },
): Plan["pictures"] {
  return starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      caption: `Start: ${startTitles[start]}.${note}`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns: alignedColumns,
      measure: "gcd_aligned",
      summary: "mean",
      names: followUpNames,
      methods: ["fedkm", "fedkm-ot", "local", "distributed", "gradient"],
      ...shown,
    },
  }));
}

/** For every run k-means alone and, from every start, the cells of `linked`. */
function sweepCells(
  options: PlanOptions,
  common: Omit<Drawn, "run" | "seed">,
  linked: (start: StartName, drawn: Drawn) => readonly StudyCell[],
  /** Of the draw, where a sweep is over sizes. */
  size?: number,
): StudyCell[] {
  return plannedRuns(options).flatMap((run) => {
    const drawn = { ...common, run, seed: seedOfRun(options.seed, run, size) };
    return [{ ...localSetting, ...drawn }, ...options.starts.flatMap((start) => linked(start, drawn))];
  });
}

/** Strong coupling, up to 4, at 200 points a device, 800 rounds. */
const effectOfAlpha: Planner = (options) => {
  const study = "effect-of-alpha";
  const alphas = [0, 1, 2, 3, 4];
  const rounds = options.quick ? 50 : 800;
  const cells = kinds.flatMap((dataset) =>
    sweepCells(options, { study, dataset, rounds }, (start, drawn) => linkedCells(start, drawn, alphas, [])),
  );
  const pictures = linePictures(study, options, {
    title: "Effect of α: 200 points a device, p = 0.7",
    x: { column: "alpha", label: "coupling strength α", ticks: alphas },
    methods: ["fedkm", "fedkm-ot", "local", "distributed"],
  });
  return { cells, pictures, figures: [] };
};

/** Of DGC-KM in the two sweeps; the follow-up compares 1, 10 and 100 elsewhere. */
const SWEEP_RHO = 10;

/** At alpha = 1, over 300 rounds. */
const sampleSize: Planner = (options) => {
  const study = "sample-size";
  const sizes = options.quick ? [50, 200] : paperSizes;
  const rounds = options.quick ? 30 : 300;
  const cells = kinds.flatMap((dataset) =>
    sizes.flatMap((pointsPerDevice) => {
      const common = { study, dataset, pointsPerDevice, rounds };
      return sweepCells(
        options,
        common,
        (start, drawn) => linkedCells(start, drawn, [1], [SWEEP_RHO]),
        pointsPerDevice,
      );
    }),
  );
  const ticks = options.quick ? [0, 100, 200] : [0, 200, 400, 600, 800];
  const pictures = linePictures(study, options, {
    title: "Local sample size: α = 1, p = 0.7",
    x: { column: "points_per_device", label: "points per device, m", ticks },
    note: ` DGC-KM has ρ = ${SWEEP_RHO}.`,
  });
  return { cells, pictures, figures: [] };
};

/** At alpha = 1, over 200 rounds. */
const connectivity: Planner = (options) => {
  const study = "connectivity";
  const densities = Array.from({ length: 11 }, (_, i) => i / 10).filter((_, i) => !options.quick || i % 5 === 0);
  const rounds = options.quick ? 30 : 200;
  const cells = kinds.flatMap((dataset) =>
    sweepCells(options, { study, dataset, rounds }, (start, drawn) =>
      densities.flatMap((edgeProbability) => linkedCells(start, { ...drawn, edgeProbability }, [1], [SWEEP_RHO])),
    ),
  );
  const pictures = linePictures(study, options, {
    title: "Connectivity: 200 points a device, α = 1",
    x: { column: "edge_probability", label: "probability of a link, p", ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
    note: ` DGC-KM has ρ = ${SWEEP_RHO}.`,
  });
  return { cells, pictures, figures: [] };
};

/**
 * Damping gamma and passes, with the rounds that raise the objective; all at once as in the follow-up, and one device at
 * a time as in the paper. The auto start has a regime of its own, so that it has no part in this.
 */
const regimes: Planner = (options) => {
  const study = "regimes";
  const schedules = ["simultaneous", "cyclic"] as const;
  const kindsOfUpdate = [
    { damping: 1, passes: 10 },
    { damping: 1, passes: 1 },
    { damping: 0.5, passes: 10 },
  ];
  const variants = schedules.flatMap((schedule) =>
    couplings.flatMap((method) => kindsOfUpdate.map((update) => ({ schedule, method, ...update }))),
  );
  const starts = options.starts.filter((start) => start !== "auto");
  const cells = kinds.flatMap((dataset) =>
    plannedRuns(options).flatMap((run) => {
      const drawn = { study, dataset, run, seed: seedOfRun(options.seed, run) };
      return starts.flatMap((start) =>
        variants.map((variant) => ({
          ...(variant.schedule === "cyclic" ? { ...paperSetting, start } : followUpSetting(start)),
          ...drawn,
          ...variant,
        })),
      );
    }),
  );
  const pictures = starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Update regimes: damping γ and passes P",
      caption: `Start: ${startTitles[start]}.`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns: alignedColumns,
      summary: "mean" as const,
      entries: variants.map(({ schedule, method, damping, passes }) => ({
        label: `${followUpNames[method].slice(-2)}, ${schedule === "cyclic" ? "in turn" : "at once"}, γ ${damping}, P ${passes}`,
        method,
        where: { schedule, method, damping, passes },
      })),
    },
  }));
  return { cells, pictures, figures: [] };
};

/** Two communities of five devices with clusters of their own: what a few links between cost. */
const twoCommunities: Planner = (options) => {
  const study = "communities";
  const alphas = [0.01, 0.1, 1];
  const between = [0, 0.1];
  const cells = sweepCells(options, { study, dataset: "communities", pointsPerDevice: 50 }, (start, drawn) =>
    between.flatMap((edgeProbability) => linkedCells(start, { ...drawn, edgeProbability }, alphas, [1])),
  );
  const pictures = options.starts.flatMap((start) =>
    linePictures(
      study,
      { ...options, starts: [start] },
      {
        title: "Two communities: GCD to the pooled solution of the own one",
        note: " DGC-KM has ρ = 1.",
        rows: [{ label: "GCD", where: { study, start } }],
        columns: between.map((p) => ({
          label: p === 0 ? "no link between the two" : `links between the two: p = ${p}`,
          where: { edge_probability: p },
        })),
        x: { column: "alpha", label: "coupling strength α", ticks: alphas, log: true },
      },
    ),
  );
  return { cells, pictures, figures: [] };
};

/** All its methods on small data, drawn and real. */
const comparison: Planner = (options) =>
  comparisonPlan("comparison", options, {}, [
    ...kinds.map((dataset) => ({ dataset, devices: 10, pointsPerDevice: 200, k: 3 })),
    { dataset: "iris", devices: 5, pointsPerDevice: null, k: 3 },
    { dataset: "digits", devices: 10, pointsPerDevice: null, k: 10 },
  ]);

/** Forero's benchmark: 30 devices on a geometric network with few links, over 300 rounds. */
const benchmark: Planner = (options) => {
  const sets = kinds.map((dataset) => ({ dataset, devices: 30, pointsPerDevice: 50, k: 3 }));
  return comparisonPlan("benchmark", options, { network: "geometric", edgeProbability: null, rounds: 300 }, sets);
};

/** As the follow-up runs CIFAR-10: more rounds and passes, as many clusters as classes. */
export function featuresPlan({ labels }: LabelledPoints, devices: number, options: PlanOptions): Plan {
  const set = { dataset: "features" as const, devices, pointsPerDevice: null, k: new Set(labels).size };
  return comparisonPlan("features", options, { rounds: 500, passes: 20 }, [set]);
}

const COMPONENTS = 50;

/** Wider points become their 50 principal components, as in the follow-up's study of CIFAR-10. */
export function followUpFeatures({ points, labels }: LabelledPoints): LabelledPoints {
  return { points: points.cols > COMPONENTS ? principalComponents(points, COMPONENTS) : points, labels };
}

type ComparedSet = Pick<StudyCell, "dataset" | "devices" | "pointsPerDevice" | "k">;

const RHOS = [1, 10, 100];

function comparisonPlan(
  study: string,
  options: PlanOptions,
  special: Partial<StudyCell>,
  sets: readonly ComparedSet[],
): Plan {
  const { passes: morePasses, ...common } = special;
  const isFeatures = study === "features";
  const cells = sets.flatMap((set) =>
    plannedRuns(options).flatMap((run): StudyCell[] => {
      const drawn = { study, ...set, run, seed: seedOfRun(options.seed, run) };
      const linked = { ...drawn, ...common, ...(options.quick && { rounds: 30 }) };
      return [
        { ...localSetting, ...drawn },
        { ...localSetting, ...drawn, method: "pooled" },
        ...options.starts.flatMap((start): StudyCell[] => [
          ...couplings.map((method) => ({
            ...followUpSetting(start),
            ...(start !== "auto" && morePasses !== undefined && { passes: morePasses }),
            ...linked,
            method,
          })),
          ...baselines(start, RHOS)
            .flatMap((cell): Pick<StudyCell, keyof typeof cell>[] =>
              // In the study of CIFAR-10 the follow-up also lets all devices begin where one does.
              isFeatures && cell.method === "distributed" ? [cell, { ...cell, method: "distributed-shared" }] : [cell],
            )
            .map((cell) => ({ ...cell, ...linked })),
        ]),
      ];
    }),
  );
  return { cells, pictures: comparisonPictures(study, options, sets), figures: [] };
}

const comparisonTitles: { readonly [study: string]: string } = {
  comparison: "Comparison on small data: α = 1, p = 0.7",
  features: "Comparison on your features: α = 1, p = 0.7",
  benchmark: "A network like that of Forero's benchmark: 30 devices, geometric",
};

function comparisonPictures(study: string, { starts }: PlanOptions, sets: readonly ComparedSet[]): Plan["pictures"] {
  return starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: comparisonTitles[study],
      caption: `Start: ${startTitles[start]}.`,
      rows: sets.map(({ dataset }) => ({ label: dataset, where: { study, dataset, start } })),
      columns: [
        ...alignedColumns,
        ...(study === "benchmark" ? [] : [{ label: "NMI, own points", where: {}, measure: "nmi_own" }]),
      ],
      summary: "mean" as const,
      entries: [
        ...couplings.map((method) => ({ label: followUpNames[method], method, where: { method } })),
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

/** By name; CIFAR-10 needs a file of the user's, so that `features` is not among them. */
export const followUpStudies: { readonly [name: string]: Planner } = {
  "effect-of-alpha": effectOfAlpha,
  "sample-size": sampleSize,
  connectivity,
  regimes,
  comparison,
  communities: twoCommunities,
  benchmark,
};
