// Which device has which clusters, and where a device's own clusters differ from the common ones.

import { toRows } from "@fedkm/core";
import { escaped, type HtmlCell, htmlTable } from "@fedkm/pictures";
import {
  BEYOND_CHANCE,
  type ClusterSums,
  type FittedRows,
  meansInUnits,
  squaredMeanDistance,
} from "../model/clusterSums.ts";
import { counted, countLabel, percent, readableDate, readableSpread, readableValue } from "../numbers.ts";
import { NOTHING, nameMark, reportColour, reportDownload, reportList, reportMark, reportName } from "./marks.ts";

/** More devices than this make a page slow and long. */
const MOST_DEVICES = 60;

interface DeviceView {
  readonly device: number;
  /** How far its means are from the common ones beyond chance, in spreads, typically for a row. */
  readonly apart: number;
  /** Its cluster that is farthest beyond chance, and the column in which. */
  readonly farthest?: { readonly cluster: number; readonly column: number };
}

/** All devices in their order, or those that differ most. */
function shownDevices(sums: ClusterSums): DeviceView[] {
  const views = Array.from({ length: sums.counts.length / sums.k }, (_, device) => viewOf(sums, device));
  if (views.length <= MOST_DEVICES) return views;
  const rows = (device: number) =>
    sums.counts.subarray(device * sums.k, (device + 1) * sums.k).reduce((sum, own) => sum + own, 0);
  // Many rows say more than few: the apparent difference of a handful is mostly chance.
  const weight = ({ device, apart }: DeviceView) => apart * Math.sqrt(rows(device));
  return views
    .map((view) => ({ view, weight: weight(view), rows: rows(view.device) }))
    .sort((a, b) => b.weight - a.weight || b.rows - a.rows || a.view.device - b.view.device)
    .slice(0, MOST_DEVICES)
    .map(({ view }) => view);
}

function viewOf(sums: ClusterSums, device: number): DeviceView {
  const { k, cols, counts, means, common, variances } = sums;
  let [square, rows, chance, surest, cluster] = [0, 0, 0, 0, -1];
  for (let c = 0; c < k; c++) {
    const at = device * k + c;
    if (counts[at] === 0 || Number.isNaN(variances[c])) continue;
    const own = squaredMeanDistance(means, at, common, c, cols) / variances[c];
    square += counts[at] * own;
    rows += counts[at];
    chance++;
    const sure = Math.sqrt(own) - BEYOND_CHANCE / Math.sqrt(counts[at]);
    if (sure > surest) [surest, cluster] = [sure, c];
  }
  const apart = rows === 0 ? 0 : Math.sqrt(Math.max(0, square - chance) / rows);
  if (cluster < 0) return { device, apart };
  return { device, apart, farthest: { cluster, column: farthestColumn(sums, device, cluster) } };
}

/** In deviations of the cluster's rows in each column. */
function farthestColumn({ k, cols, means, common, squares }: ClusterSums, device: number, c: number): number {
  let [column, most] = [0, -1];
  for (let x = 0; x < cols; x++) {
    const at = c * cols + x;
    const own = (means[(device * k + c) * cols + x] - common[at]) ** 2 / squares[at];
    if (own > most) [column, most] = [x, own];
  }
  return column;
}

export function deviceTable(fitted: FittedRows): string {
  const { model, sums } = fitted;
  const { devices, clusters } = model;
  const shown = shownDevices(sums);
  const heading: HtmlCell[] = [
    "device",
    "rows",
    { html: "clusters", attributes: 'class="words"' },
    ...clusters.map((_, c) => ({ html: reportMark(model, c), attributes: `data-cluster="${c}"` })),
    "apart",
    { html: "differs most in", attributes: 'class="words"' },
  ];
  const rows = shown.map(({ device, apart, farthest }): HtmlCell[] => {
    const { name, rows: own, sizes } = devices[device];
    return [
      { html: nameMark(name) },
      countLabel(own),
      { html: parts(fitted, sizes, own) },
      ...sizes.map((size, c) => ({
        html: own === 0 ? NOTHING : percent(size / own),
        attributes: `data-cluster="${c}" title="${counted(size, "row")}"`,
      })),
      readableSpread(apart, NOTHING),
      { html: farthest === undefined ? NOTHING : farthestText(fitted, device, farthest), attributes: 'class="words"' },
    ];
  });
  const left = devices.length - shown.length;
  return `${left === 0 ? "" : `<p>These are the ${countLabel(shown.length)} devices that differ most from the common clusters. The other ${countLabel(left)} are in model.json.</p>`}
${htmlTable({ heading, rows, names: 1, kind: "sortable" })}
${reportDownload("devices.csv", [
  ["device", "rows", ...clusters.map((_, c) => `rows in ${reportName(model, c)}`), "apart"],
  ...shown.map(({ device, apart }) => [devices[device].name, devices[device].rows, ...devices[device].sizes, apart]),
])}
<details><summary>Means of the rows of ${left === 0 ? "every device" : "these devices"}</summary>${meanTables(
    fitted,
    shown.map(({ device }) => device),
  )}</details>`;
}

function parts({ model }: FittedRows, sizes: readonly number[], rows: number): string {
  const spans = sizes.map((size, c) => {
    const title = `${reportName(model, c)}: ${counted(size, "row")}`;
    const share = ((100 * size) / rows).toFixed(1);
    return size === 0
      ? ""
      : `<span data-cluster="${c}" title="${escaped(title)}" style="width:${share}%;background:${reportColour(c)}"></span>`;
  });
  return `<span class="parts">${spans.join("")}</span>`;
}

function farthestText(
  { model, sums }: FittedRows,
  device: number,
  { cluster, column }: NonNullable<DeviceView["farthest"]>,
): string {
  const { k, cols } = sums;
  const { means, common } = meansInUnits(sums, model.scaling);
  const shown = shownIn(model, column);
  const own = shown(means[(device * k + cluster) * cols + column]);
  const usual = shown(common[cluster * cols + column]);
  return `${reportMark(model, cluster)}: ${nameMark(model.columns[column])} ${own} <span class="small">(common ${usual})</span>`;
}

/** How means of a clustered column are shown: those of one value of a category are shares. */
function shownIn({ columns, dates, encoding = [] }: FittedRows["model"], column: number): (mean: number) => string {
  const isCategory = encoding.flatMap(({ values }) => values?.map(() => true) ?? [false])[column];
  if (isCategory) return percent;
  return dates?.includes(columns[column]) ? readableDate : readableValue;
}

/** The means of each device's own rows, whatever its neighbours pull its centroids to. */
function meanTables({ model, sums }: FittedRows, shown: readonly number[]): string {
  const { devices, columns, scaling } = model;
  const { k, cols } = sums;
  const { means } = meansInUnits(sums, scaling);
  return shown
    .map((i) => {
      const { name, sizes } = devices[i];
      const own = { data: means.subarray(i * k * cols, (i + 1) * k * cols), rows: k, cols };
      const rows = toRows(own).map((mean, c) => [
        { html: reportMark(model, c) },
        countLabel(sizes[c]),
        ...mean.map((number, x) => (sizes[c] === 0 ? NOTHING : shownIn(model, x)(number))),
      ]);
      return `<h3>${escaped(name)}</h3>${htmlTable({ heading: ["cluster", "rows", ...columns], rows, names: 1 })}`;
    })
    .join("\n");
}

/** Who differs, in a sentence. */
export function reportDeviceSentence({ model: { devices }, sums, numbersAgree }: FittedRows): string {
  const apart =
    "Apart says how far the means of a device's own rows are from the common clusters, beyond chance: 0 is not at all, " +
    "and 1 is as far as rows are from their mean.";
  const far = shownDevices(sums).filter(({ farthest, apart: own }) => farthest !== undefined && own >= 1);
  const names = far.slice(0, 4).map(({ device }) => devices[device].name);
  const more = far.length > 4 ? [`${far.length - 4} more`] : [];
  const differing = far.length === 0 ? "" : ` The clusters of ${reportList([...names, ...more])} lie elsewhere.`;
  return `${apart}${differing}${numbersAgree ? " Cluster numbers mean the same on every device." : ""}`;
}
