// The report's tables: clusters in the user's units, and who has how many rows of each.

import { type Cell, clusterColours, count, escaped, htmlTable, significant } from "@fedkm/pictures";
import type { DeviceModel, Model } from "../../../model/model.ts";

function clusterName(c: number): Cell {
  return {
    html: `<span class="swatch" style="background:var(--cluster-${c % clusterColours.length})"></span>${c}`,
  };
}

/** Every cluster's rows and centroid: the devices' mean, weighted by rows. */
export function clusterTable({ devices, columns, options }: Model): string {
  const totals = totalSizes(devices, options.k);
  const rows = totals.map((total, c) => {
    const weights = devices.map(({ sizes }) => (total === 0 ? 1 / devices.length : sizes[c] / total));
    const mean = (column: number) =>
      devices.reduce((sum, { centroids }, i) => sum + weights[i] * centroids[c][column], 0);
    return [clusterName(c), count(total), ...columns.map((_, column) => significant(mean(column), 4))];
  });
  return htmlTable({ heading: ["cluster", "rows", ...columns], rows, names: 1 });
}

function totalSizes(devices: readonly DeviceModel[], k: number): number[] {
  return Array.from({ length: k }, (_, c) => devices.reduce((sum, { sizes }) => sum + sizes[c], 0));
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
