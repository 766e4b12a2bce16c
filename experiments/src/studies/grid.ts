// What a study's picture shows, said without drawing it: panels with lines over an axis, or with a dot for each method.

import type { Value } from "../table.ts";

/** Which rows of the table belong to something. */
type Where = { readonly [column: string]: Value };

/** A row or a column of panels: its name, and which rows of the table belong to it. */
export interface Strip {
  readonly label: string;
  readonly where: Where;
  /** Of columns that show different measures. */
  readonly measure?: Measure;
}

export type Measure = "gcd" | "cv" | "gcd_aligned" | "cv_aligned" | "nmi" | "nmi_own";

/**
 * What stands for the runs of a cell. error: mean and standard error, as in the paper. mean: mean and its 95 % interval,
 * as in the follow-up. median: median and quartiles.
 */
export type Summary = "error" | "mean" | "median";

export const summaryTitles: { readonly [summary in Summary]: string } = {
  error: "Mean and standard error over the runs",
  mean: "Mean and 95 % interval",
  median: "Median and quartiles over the runs",
};

interface Axis {
  readonly column: string;
  readonly label: string;
  readonly ticks: readonly number[];
  readonly log?: boolean;
}

interface Grid {
  readonly title: string;
  /** What else a reader must know, such as the start. */
  readonly caption: string;
  readonly rows: readonly Strip[];
  readonly columns: readonly Strip[];
  /** Unless the reader asks for another. */
  readonly summary: Summary;
  /** Names of methods in this study, where they have others. */
  readonly names?: { readonly [method: string]: string };
}

/** Lines over an axis, one for each method. */
export interface PanelGrid extends Grid {
  readonly x: Axis;
  readonly measure: Measure;
  readonly methods: readonly string[];
}

/** A line of a panel of dots: its name, its method and which rows of the table it stands for. */
export interface DotEntry {
  readonly label: string;
  readonly method: string;
  readonly where: Where;
}

/** A dot for each entry, the measure across. */
export interface DotGrid extends Grid {
  readonly columns: readonly (Strip & { readonly measure: Measure })[];
  readonly entries: readonly DotEntry[];
}

/** The follow-up's names of the two couplings. */
export const followUpNames = { fedkm: "FedKM-NC", "fedkm-ot": "FedKM-OT", gradient: "DGC-KM" } as const;
