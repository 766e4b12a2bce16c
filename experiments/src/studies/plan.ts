// What a study consists of: its cells, and what its pictures show, said without drawing them: panels with lines over an
// axis, or with a dot for each method.

import type { StartName, StudyCell } from "../cell.ts";
import type { Where } from "../table.ts";

export interface PlanOptions {
  readonly runs: number;
  readonly seed: number;
  readonly starts: readonly StartName[];
  /** Fewer sizes, so that it takes a moment: for a first look and for tests. */
  readonly quick: boolean;
}

export interface PlannedPicture {
  /** Its file's name, without an ending. */
  readonly name: string;
  readonly grid: PanelGrid | DotGrid;
}

export interface Plan {
  readonly cells: readonly StudyCell[];
  readonly pictures: readonly PlannedPicture[];
  /** The paper's figures whose claims can be judged. */
  readonly figures: readonly number[];
  /** Options of methods that are swept over: columns of the CSV. */
  readonly options: readonly string[];
}

/** A row or a column of panels: its name, and which rows of the table belong to it. */
export interface Strip {
  readonly label: string;
  readonly where: Where;
  /** Of columns that show different measures. */
  readonly measure?: MeasureName;
}

/** gcd, cv, their aligned forms, nmi, nmi_own, own_cost_ratio, or one that a plug-in adds. */
export type MeasureName = string;

/**
 * What stands for the runs of a cell. error: mean and standard error, as in the paper. mean: mean and its 95 % interval,
 * as in the follow-up. median: median and quartiles.
 */
export type SummaryName = "error" | "mean" | "median";

export const summaryTitles: { readonly [summary in SummaryName]: string } = {
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
  readonly summary: SummaryName;
  /** Names of methods in this study, where they have others. */
  readonly names?: { readonly [method: string]: string };
}

/** Lines over an axis, one for each method. */
export interface PanelGrid extends Grid {
  readonly x: Axis;
  readonly measure: MeasureName;
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
  readonly columns: readonly (Strip & { readonly measure: MeasureName })[];
  readonly entries: readonly DotEntry[];
  /** A value to compare with, drawn as a line. */
  readonly level?: number;
  /** The name of the axis across, where columns do not name it; all panels then have one scale. */
  readonly across?: string;
}
