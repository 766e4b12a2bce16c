// fedkm choose: k and alpha for files, as two tables, two curves and the arguments for fedkm fit.

import { type Choice, choose } from "@fedkm/core";
import type { Console } from "../../console.ts";
import { type Prepared, type PrepareOptions, prepare } from "../../input/prepare.ts";
import { count, significant } from "../../numbers.ts";
import { progressOn } from "../../progress.ts";
import { alignColumns, wrap } from "../../table.ts";
import { writeWhole } from "../../write.ts";

export interface ChooseOptions extends PrepareOptions {
  readonly largestK: number;
  /** The picture's file. */
  readonly out: string;
  readonly json?: boolean;
}

export async function chooseForFiles(patterns: readonly string[], options: ChooseOptions, io: Console): Promise<void> {
  const progress = progressOn(io.stderr);
  let prepared: Prepared;
  let choice: Choice;
  try {
    prepared = await prepare(patterns, options, (file) => progress.announce(`fedkm  reading ${file}`));
    progress.announce(`fedkm  trying k from 1 to ${options.largestK}, then alpha`);
    choice = choose(prepared.datasets, prepared.graph, { largestK: options.largestK, seed: options.seed });
    const { drawChoice } = await import("./picture.ts");
    await writeWhole(options.out, drawChoice(choice));
  } finally {
    progress.erase();
  }
  const warnings = [...prepared.warnings, ...leftOut(choice, prepared.names)];
  if (options.json) io.stdout.write(`${JSON.stringify({ ...choice, warnings, picture: options.out }, undefined, 2)}\n`);
  else io.stdout.write(`${text(choice, warnings, options.out).join("\n")}\n`);
}

function leftOut({ clusters }: Choice, names: readonly string[]): string[] {
  if (clusters.leftOut.length === 0) return [];
  return [`no path leads to ${clusters.leftOut.map((i) => names[i]).join(", ")}, which had no say`];
}

function text(
  { k, alpha, clusters, coupling, messages, bytes }: Choice,
  warnings: readonly string[],
  picture: string,
): string[] {
  const ks = clusters.curve.map((score) => [
    String(score.k),
    significant(score.inertia, 4),
    significant(score.silhouette, 3),
    significant(score.separation, 3),
    significant(score.needed, 3),
    score.k === k ? "chosen" : "",
  ]);
  const alphas = coupling.curve.map((score) => [
    String(score.alpha),
    significant(score.loss, 4),
    significant(score.standardError, 2),
    score.alpha === alpha ? "chosen" : "",
  ]);
  const paragraphs = [inWords(clusters), ...warnings.map((warning) => `warning: ${warning}`)];
  return [
    `k = ${k}, alpha = ${alpha}: fedkm fit --k ${k} --alpha ${alpha}`,
    "",
    ...alignColumns([["k", "inertia", "silhouette", "separation", "needed", ""], ...ks]),
    "",
    ...alignColumns([["alpha", "loss of rows kept back", "standard error", ""], ...alphas]),
    "",
    ...paragraphs.flatMap((paragraph) => wrap(paragraph, 80)),
    `${count(messages)} messages, ${count(bytes)} bytes between devices`,
    "",
    `picture: ${picture}`,
  ];
}

function inWords({ k, structure, agree, elbow, silhouette }: Choice["clusters"]): string {
  if (!structure) return "The rows are spread like one cluster, or evenly: there are no clusters to find.";
  if (agree) return `The elbow of the inertia and the silhouette also say ${k}.`;
  return `The elbow of the inertia says ${elbow}, the silhouette ${silhouette}; k is the largest whose clusters are all apart from each other.`;
}
