// The report's tables: clusters in the user's units, and who has how many rows of each.

import { toRows } from "@fedkm/core";
import { undoScaling } from "@fedkm/files";
import { type Cell, clusterColours, count, escaped, htmlTable, shortened, significant } from "@fedkm/pictures";
import type { Fitted } from "../../../model/fitted.ts";
import type { Model } from "../../../model/model.ts";
import { spreads } from "../../../numbers.ts";

function clusterName(c: number): Cell {
  return {
    html: `<span class="swatch" style="background:var(--cluster-${c % clusterColours.length})"></span>${c}`,
  };
}

/** Every cluster's rows on all devices, their mean, and how far the devices differ. */
export function clusterTable({ devices, clusters, columns }: Fitted["model"]): string {
  const several = devices.length > 1;
  const rows = clusters.map(({ rows: total, mean, difference, farthest, farthestDifference }, c) => [
    clusterName(c),
    count(total),
    ...columns.map((_, column) => (mean === null ? NOTHING : significant(mean[column], 4))),
    ...(several ? [spreads(difference, NOTHING), placeName(farthest), spreads(farthestDifference, NOTHING)] : []),
  ]);
  const heading = ["cluster", "rows", ...columns, ...(several ? ["places apart", "farthest", "distance"] : [])];
  return htmlTable({ heading, rows, names: 1 });
}

const NOTHING = "–";

const LONGEST_NAME = 140;

function placeName(name: string | null): Cell {
  if (name === null) return NOTHING;
  return { html: `<span title="${escaped(name)}">${escaped(shortened(name, LONGEST_NAME))}</span>` };
}

export function sizesTable({ devices, options }: Model): string {
  const heading = ["device", "rows", ...Array.from({ length: options.k }, (_, c) => clusterName(c))];
  const rows = devices.map(({ name, rows: total, sizes }) => [
    name,
    count(total),
    ...sizes.map((size) => share(size, total)),
  ]);
  return htmlTable({ heading, rows, names: 1 });
}

/** A number over a bar of its share. */
function share(size: number, total: number): Cell {
  const percent = total === 0 ? 0 : (100 * size) / total;
  return { html: `<span class="bar" style="--share:${percent.toFixed(1)}%">${count(size)}</span>` };
}

/** The means of each device's own rows, whatever its neighbours pull its centroids to. */
export function meanTables({ model, sums }: Pick<Fitted, "model" | "sums">): string {
  const { devices, columns, scaling } = model;
  const { k, cols, means } = sums;
  return devices
    .map(({ name, sizes }, i) => {
      const own = { data: means.subarray(i * k * cols, (i + 1) * k * cols), rows: k, cols };
      const rows = toRows(undoScaling(own, scaling)).map((mean, c) => [
        clusterName(c),
        count(sizes[c]),
        ...mean.map((value) => (sizes[c] === 0 ? NOTHING : significant(value, 4))),
      ]);
      return `<h3>${escaped(name)}</h3>${htmlTable({ heading: ["cluster", "rows", ...columns], rows, names: 1 })}`;
    })
    .join("\n");
}

export function deviceTables({ devices, columns }: Model): string {
  return devices
    .map(({ name, sizes, centroids }) => {
      const rows = centroids.map((centroid, c) => [
        clusterName(c),
        count(sizes[c]),
        ...centroid.map((value) => significant(value, 4)),
      ]);
      const heading = ["cluster", "rows", ...columns];
      return `<h3>${escaped(name)}</h3>${htmlTable({ heading, rows, names: 1 })}`;
    })
    .join("\n");
}
