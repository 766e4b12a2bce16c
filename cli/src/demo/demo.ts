// fedkm demo: ten simulated devices, five methods, one table, one picture.

import { styleText } from "node:util";
import { edges } from "@fedkm/core";
import { type Console, isStyled } from "../console.ts";
import { count, duration, significant, times } from "../numbers.ts";
import { progressOn } from "../progress.ts";
import { alignColumns, wrap } from "../table.ts";
import { writeWhole } from "../write.ts";
import { type Comparison, compare, demoProblem, type MethodName, methodNames } from "./comparison.ts";

export interface DemoOptions {
  readonly seed: number;
  /** The picture's file. */
  readonly out: string;
  readonly json?: boolean;
}

export async function demo({ seed, out, json }: DemoOptions, { stdout, stderr, env }: Console): Promise<void> {
  const progress = progressOn(stderr);
  let comparison: Comparison;
  try {
    const problem = demoProblem(seed);
    comparison = compare(problem, ({ round, objective }) => {
      progress.show(`fedkm  round ${round}/${problem.rounds}  objective ${significant(objective, 4)}`);
    });
    progress.announce("fedkm  drawing the picture");
    const { drawPicture } = await import("./picture/picture.ts");
    writeWhole(out, drawPicture(comparison));
  } finally {
    progress.erase();
  }
  if (json) stdout.write(`${JSON.stringify(summary(comparison, out), undefined, 2)}\n`);
  else stdout.write(`${report(comparison, out, isStyled(stdout, env)).join("\n")}\n`);
}

/** The same facts for a machine, with all their digits. */
function summary({ problem, results }: Comparison, picture: string) {
  const { seed, k, alpha, datasets, graph } = problem;
  const measured = methodNames.map((name) => {
    const { model, deviation, variation, milliseconds } = results[name];
    const { objective, rounds, converged, messages, bytes } = model;
    const quality = { globalCentroidDeviation: deviation, consensusVariation: variation, objective };
    return [name, { ...quality, rounds, converged, messages, bytes, milliseconds }] as const;
  });
  const links = Array.from(edges(graph)).length;
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  return { seed, devices: graph.size, links, points, k, alpha, methods: Object.fromEntries(measured), picture };
}

function report(comparison: Comparison, picture: string, styled: boolean): string[] {
  const { seed, k, alpha, datasets, graph } = comparison.problem;
  const links = Array.from(edges(graph)).length;
  const problem = `${graph.size} devices, ${datasets[0].rows} points each, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}`;
  const paragraphs = [columnsExplained, whatIsSeen(comparison)].flatMap((text) => ["", ...wrap(text, 80)]);
  return [problem, "", ...resultTable(comparison, styled), ...paragraphs, "", `picture: ${picture}`];
}

const columnsExplained =
  "GCD is the mean squared distance from a device's centroids to the pooled ones, CV to its neighbours' (0: the same). " +
  "pooled moves every raw record to one place; fedkm, consensus and distributed send only centroids and counts; " +
  "local sends nothing.";

function resultTable({ results }: Comparison, styled: boolean): string[] {
  const heading = ["method", "GCD", "CV", "objective", "messages", "bytes", "time"];
  const rows = methodNames.map((name) => {
    const { model, deviation, variation, milliseconds } = results[name];
    return [
      name,
      significant(deviation, 2),
      significant(variation, 2),
      significant(model.objective, 4),
      count(model.messages),
      count(model.bytes),
      duration(milliseconds),
    ];
  });
  const best = nearestToPooled(results);
  const column = heading.indexOf("GCD");
  return alignColumns([heading, ...rows], (text, row, at) =>
    styled && at === column && row > 0 && methodNames[row - 1] === best
      ? // Whether to style was decided for the output in hand, not for the process's own.
        styleText("bold", text, { validateStream: false })
      : text,
  );
}

/** Of the methods that leave the records where they are. */
function nearestToPooled(results: Comparison["results"]): MethodName {
  return methodNames
    .filter((name) => name !== "pooled")
    .reduce((best, name) => (results[name].deviation < results[best].deviation ? name : best));
}

function whatIsSeen({ results, curves }: Comparison): string {
  const alone = results.local.deviation;
  const [, first] = curves.fedkm;
  const below = (deviation: number) => times(alone / deviation);
  const { rounds } = results.fedkm.model;
  const farthest = curves.distributed.reduce((worst, point) => (point.deviation > worst.deviation ? point : worst));
  const detour =
    farthest.deviation > alone
      ? ` distributed first strays to ${significant(farthest.deviation, 2)} (round ${farthest.round}), ` +
        `then ends at ${significant(results.distributed.deviation, 2)}.`
      : "";
  return (
    `fedkm's GCD is ${below(first.deviation)} times below local's after 1 round and ` +
    `${below(results.fedkm.deviation)} times after ${rounds}.${detour}`
  );
}
