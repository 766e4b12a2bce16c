// The report's tables: clusters in the user's units, and who has how many rows of each.

import { escaped } from "@fedkm/pictures";
import type { DeviceModel, Model } from "../../../model/model.ts";
import { count, significant } from "../../../numbers.ts";
import { clusterColours } from "../../demo/picture/panels.ts";

/** Rows of cells; the first row and column are headings. Cells are HTML already. */
function table(rows: readonly (readonly string[])[]): string {
  const [head, ...body] = rows;
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell, c) => (c === 0 ? `<th scope="row">${cell}</th>` : `<${tag}>${cell}</${tag}>`)).join("")}</tr>`;
  return `<div class="wide"><table><thead>${line(head, "th")}</thead><tbody>${body.map((cells) => line(cells, "td")).join("\n")}</tbody></table></div>`;
}

function clusterName(c: number): string {
  return `<span class="swatch" style="background:${clusterColours[c % clusterColours.length]}"></span>${c}`;
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
  return table([["cluster", "rows", ...columns.map(escaped)], ...rows]);
}

function totalSizes(devices: readonly DeviceModel[], k: number): number[] {
  return Array.from({ length: k }, (_, c) => devices.reduce((sum, { sizes }) => sum + sizes[c], 0));
}

export function sizesTable({ devices, options }: Model): string {
  const heading = ["device", "rows", ...Array.from({ length: options.k }, (_, c) => clusterName(c))];
  const rows = devices.map(({ name, rows: total, sizes }) => [
    escaped(name),
    count(total),
    ...sizes.map((size) => share(size, total)),
  ]);
  return table([heading, ...rows]);
}

/** A number over a bar of its share. */
function share(size: number, total: number): string {
  const percent = total === 0 ? 0 : (100 * size) / total;
  return `<span class="bar" style="--share:${percent.toFixed(1)}%">${count(size)}</span>`;
}

export function deviceTables({ devices, columns }: Model): string {
  return devices
    .map(({ name, sizes, centroids }) => {
      const rows = centroids.map((centroid, c) => [
        clusterName(c),
        count(sizes[c]),
        ...centroid.map((value) => significant(value, 4)),
      ]);
      return `<h3>${escaped(name)}</h3>${table([["cluster", "rows", ...columns.map(escaped)], ...rows])}`;
    })
    .join("\n");
}
