// What fedkm fit says in a terminal: the clusters in the user's units, who agrees with whom, and where the results are.

import { bold } from "../../console.ts";
import type { Fitted } from "../../model/fitted.ts";
import { count, significant } from "../../numbers.ts";
import { alignColumns, wrap } from "../../table.ts";

const WIDTH = 80;
/** More columns than fit a line are in the report. */
const MOST_COLUMNS = 8;

export function fitText(
  { model }: Pick<Fitted, "model">,
  warnings: readonly string[],
  paths: readonly string[],
  styled: boolean,
): string[] {
  const { devices, links, columns, options, rounds, converged, objective } = model;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const plural = (n: number, word: string) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
  const facts = [
    `${plural(devices.length, "device")}, ${plural(links.length, "link")}, ${plural(rows, "row")}, ${plural(columns.length, "column")}`,
    `${options.method}, k = ${options.k}, alpha = ${options.alpha}, seed ${options.seed}: ${
      converged ? "settled" : "stopped"
    } after ${plural(rounds, "round")}, objective ${significant(objective, 4)}`,
  ];
  return [
    ...facts,
    "",
    ...alignColumns(clusterTable(model), (text, row) => bold(text, styled && row === 0)),
    ...(columns.length > MOST_COLUMNS
      ? ["", `the other ${columns.length - MOST_COLUMNS} columns are in the report`]
      : []),
    ...warnings.flatMap((warning, i) => [...(i === 0 ? [""] : []), ...wrap(`warning: ${warning}`, WIDTH)]),
    "",
    ...shortened(paths),
  ];
}

/** One line a cluster: its rows on all devices, and its centroid, the devices' mean by rows. */
function clusterTable({ devices, columns, options }: Fitted["model"]): string[][] {
  const shown = columns.slice(0, MOST_COLUMNS);
  const clusters = Array.from({ length: options.k }, (_, c) => {
    const sizes = devices.map((own) => own.sizes[c]);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const weights = total === 0 ? devices.map(() => 1 / devices.length) : sizes.map((size) => size / total);
    const mean = (column: number) => devices.reduce((sum, own, i) => sum + weights[i] * own.centroids[c][column], 0);
    return [String(c), count(total), ...shown.map((_, column) => significant(mean(column), 4))];
  });
  return [["cluster", "rows", ...shown], ...clusters];
}

function shortened(paths: readonly string[]): string[] {
  const most = 6;
  return paths.length <= most ? [...paths] : [...paths.slice(0, most - 1), `and ${paths.length - most + 1} more`];
}
