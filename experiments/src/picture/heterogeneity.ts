// The grid of methods by splits as a picture: a dot for each method, a panel for each split.

import { methodTitles } from "@fedkm/pictures";
import type { HeterogeneityTable } from "../heterogeneity.ts";
import { ownCostAxis } from "../studies/grid.ts";
import { drawPicture } from "./draw.ts";

export function drawHeterogeneity({ splits, rows }: HeterogeneityTable, title: string): string {
  const cells = rows.flatMap(({ method, ratios, intervals }) =>
    splits.map((split, column) => ({
      split,
      method,
      own_cost_ratio_mean: ratios[column],
      own_cost_ratio_interval: intervals[column],
    })),
  );
  return drawPicture(
    cells,
    {
      title,
      caption: "Left of the line personalisation pays.",
      rows: [{ label: "", where: {} }],
      columns: splits.map((split) => ({ label: split, where: { split }, measure: "own_cost_ratio" })),
      summary: "mean",
      // An alpha of its own stands behind a method's name.
      entries: rows.map(({ method }) => ({ label: labelOf(method), method: method.split(",")[0], where: { method } })),
      ...ownCostAxis,
    },
    {},
  );
}

function labelOf(method: string): string {
  const [name, ...rest] = method.split(",");
  return [methodTitles[name] ?? name, ...rest].join(",").replace("alpha", "α");
}
