// The picture of a study, whichever kind it is.

import type { DotGrid, PanelGrid } from "../studies/grid.ts";
import type { TableRow } from "../table.ts";
import { drawDotGrid } from "./dots.ts";
import { drawPanelGrid, type Look } from "./panels.ts";

export function drawPicture(table: readonly TableRow[], grid: PanelGrid | DotGrid, asked: Partial<Look>): string {
  const look = { summary: asked.summary ?? grid.summary, titles: asked.titles ?? true };
  return "entries" in grid ? drawDotGrid(table, grid, look) : drawPanelGrid(table, grid, look);
}
