// What a study's picture shows, said without drawing it: rows and columns of panels, axes, and the methods to compare.

import type { Value } from "../table.ts";

/** A row or a column of panels: its name, and which rows of the table belong to it. */
export interface Strip {
  readonly label: string;
  readonly where: { readonly [column: string]: Value };
  /** Of columns that show different measures. */
  readonly measure?: Measure;
}

export type Measure = "gcd" | "cv" | "nmi";

interface Axis {
  readonly column: string;
  readonly label: string;
  readonly ticks: readonly number[];
  readonly log?: boolean;
}

export interface PanelGrid {
  readonly title: string;
  /** What the error bars are, and the like. */
  readonly caption: string;
  readonly rows: readonly Strip[];
  readonly columns: readonly Strip[];
  readonly x: Axis;
  readonly measure: Measure;
  readonly methods: readonly string[];
}
