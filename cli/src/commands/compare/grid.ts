// fedkm compare --grid heterogeneity: methods by splits, each device judged on rows of its own that were held back.

import { type LabelledPoints, type Matrix, stack } from "@fedkm/core";
import {
  type ComparisonTable,
  drawHeterogeneity,
  type HeterogeneityTable,
  heterogeneityGrid,
  type MethodSettings,
  type Plugins,
} from "@fedkm/experiments";
import { linkDevices } from "@fedkm/tables";
import { bold, type Console, isStyled } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { linksOf } from "../../input/links.ts";
import { count } from "../../numbers.ts";
import { progressOn } from "../../progress.ts";
import { alignColumns, wrap } from "../../table.ts";
import { writeWhole } from "../../write.ts";
import { allPoints, type ComparedData, isBuiltIn } from "./data.ts";
import type { CompareOptions } from "./options.ts";

interface GridTask {
  readonly data: ComparedData;
  readonly k: number;
  readonly budget: number;
  readonly table: ComparisonTable;
  readonly settings: MethodSettings;
  /** Of plug-ins. */
  readonly graphs: Plugins["graphs"];
}

export async function printGrid(
  task: GridTask,
  options: CompareOptions,
  { stdout, stderr, env }: Console,
): Promise<void> {
  const { data, k, budget, table, settings, graphs } = task;
  const { dataset, seed, alpha, init, runs, devices, points } = options;
  const draw =
    options.data === undefined && isBuiltIn(dataset)
      ? (own: number) => allPoints(dataset, devices * points, own)
      : givenPoints(data);
  const names = Array.from({ length: devices }, (_, i) => String(i));
  const progress = progressOn(stderr);
  try {
    progress.announce("fedkm  heterogeneity");
    const link = (datasets: readonly Matrix[], own: number) =>
      linkDevices(linksOf(options.graph, graphs), names, datasets, own);
    const problem = { k, alpha, seed, init, settings, messages: budget, devices, runs, draw, link };
    const found = await heterogeneityGrid(problem, table, (split) => progress.announce(`fedkm  ${split} done`));
    await writeWhole(options.out, drawHeterogeneity(found, `${data.name}: where personalisation pays, ${runs} seeds`));
    progress.erase();
    const head = {
      data: data.name,
      devices,
      points: draw(seed).points.rows,
      k,
      alpha,
      seed,
      runs,
      budget,
      init,
      settings,
    };
    if (options.json)
      stdout.write(
        `${JSON.stringify({ ...head, grid: "heterogeneity", ...found, picture: options.out }, undefined, 2)}\n`,
      );
    else {
      const about = `${data.name}: ${count(head.points)} points on ${devices} devices, k = ${k}, alpha = ${alpha}, means over ${runs} seeds from ${seed}`;
      stdout.write(
        `${[about, "", ...lines(found, isStyled(stdout, env)), "", ...wrap(explained, 80), "", `picture: ${options.out}`].join("\n")}\n`,
      );
    }
  } finally {
    progress.erase();
  }
}

/** A user's points are the same for every seed; only their deal differs. */
function givenPoints({ datasets, labels }: ComparedData): () => LabelledPoints {
  if (labels === undefined)
    throw new UsageError("--grid heterogeneity needs data with classes (--classes with --data), got none");
  const all = { points: stack(datasets), labels: Uint32Array.from(labels.flatMap((own) => Array.from(own))) };
  return () => all;
}

/** The best of every column in bold. */
function lines({ splits, rows }: HeterogeneityTable, styled: boolean): string[] {
  const best = splits.map((_, column) =>
    Math.min(...rows.map(({ ratios }) => ratios[column] ?? Number.POSITIVE_INFINITY)),
  );
  const cells = rows.map(({ method, ratios }) => [method, ...ratios.map((ratio) => ratio?.toFixed(3) ?? "none")]);
  return alignColumns([["method", ...splits], ...cells], (text, row, column) =>
    bold(text, styled && row > 0 && column > 0 && rows[row - 1].ratios[column - 1] === best[column - 1]),
  );
}

const explained =
  "One row in five of every device is held back. Each number is the cost of the devices' own centroids on their own " +
  "held-back rows, relative to pooled: below 1 personalisation pays. even: all devices alike; sizes:20: the largest has " +
  "20 times the rows of the smallest; dirichlet:A: clusters unevenly spread, the more the smaller A; classes:2: two " +
  "clusters on each device.";
