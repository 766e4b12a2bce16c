// fedkm choose: k, links and alpha for files, as two tables, two curves and the command line of fedkm fit.

import type { Choice, Judge } from "@fedkm/core";
import { alignColumns, wrap } from "@fedkm/pictures/terminal";
import {
  alikeLinks,
  type ChooseOutcome,
  type ChooseRequest,
  candidateWords,
  chooseTables,
  fitCommandLine,
  linksAmongAlike,
} from "@fedkm/tables";
import { countLabel, significantLabel } from "@fedkm/tables/numbers";
import { type Console, printAnswer } from "../../console.ts";
import { checkSelection, type SourceFlags } from "../../input/options.ts";
import { inputRowsOfCommand, linksOfFlag, proposedFlags } from "../../input/reading.ts";
import { progressWatch, withProgress } from "../../progress.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { writeResultFile } from "../../write.ts";

// What fedkm choose found, in words and two tables.

interface ChoiceParts {
  readonly choice: Choice;
  readonly names: readonly string[];
  readonly verdict: ChooseOutcome["verdict"];
  readonly warnings: readonly string[];
  readonly picture: string;
  /** What to type next. */
  readonly command: string;
}

function inWords({ choice, names, verdict, warnings, picture, command }: ChoiceParts): string[] {
  const { k, alpha, groups, clusters, coupling, messages, bytes } = choice;
  const isGrouped = groups.length > 1;
  // A device alone is not coupled to any.
  const hasLinks = names.length > 1;
  const ks = clusters.curve.map((score) => [
    String(score.k),
    significantLabel(score.inertia, 4),
    significantLabel(score.silhouette, 3),
    String(score.clusters),
    `${Math.round(100 * score.apart)} %`,
    !isGrouped && score.k === clusters.fitted ? "chosen" : "",
  ]);
  const alphas = coupling.curve.map((score) => [
    String(score.alpha),
    significantLabel(score.loss, 4),
    significantLabel(score.standardError, 2),
    score.alpha === alpha ? "chosen" : "",
  ]);
  const paragraphs = [
    ...(isGrouped ? aboutGroups(choice, names) : aboutClusters(clusters)),
    ...aboutVerdict(k, verdict),
    ...aboutSample(choice.sampled),
    ...(hasLinks ? [aboutJudge(coupling.judge), ...aboutAlone(coupling.alone)] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return [
    `k = ${k}${isGrouped ? ` in each of ${groups.length} groups of devices` : ""}${hasLinks ? `, alpha = ${alpha}` : ""}`,
    "",
    ...alignColumns([["k", "inertia", "silhouette", "clusters apart", "rows in them", ""], ...ks]),
    ...(hasLinks ? ["", ...alignColumns([["alpha", "loss of rows kept back", "standard error", ""], ...alphas])] : []),
    "",
    ...paragraphs.flatMap((paragraph) => wrap(paragraph, 80)),
    ...(hasLinks ? [`${countLabel(messages)} messages, ${countLabel(bytes)} bytes between devices`] : []),
    "",
    `picture: ${picture}`,
    "",
    // On one line, however long: it is there to be pasted.
    command,
  ];
}

function aboutClusters({
  k,
  fitted,
  candidates,
  agree,
  elbow,
  silhouette,
  atLimit,
  curve,
}: Choice["clusters"]): string[] {
  const others = `The elbow of the inertia says ${elbow}, the silhouette ${silhouette}; neither can say that there are no clusters.`;
  const found = agree ? `The elbow of the inertia and the silhouette also say ${k}.` : others;
  const isLong = candidates[0].reason === "long";
  const strays = isLong
    ? `So a fit takes k = ${fitted}.`
    : `A fit finds these ${k} with k = ${fitted}: the others of its clusters are strays or tails.`;
  const largest = curve[curve.length - 1].k;
  const most = curve.reduce((top, own) => (own.clusters > top.clusters ? own : top));
  const more = `With k = ${most.k}, ${most.clusters} are apart, too few more to be sure that none of these was cut in two.`;
  const limit = `All are apart at ${largest}, the largest k that was tried: a larger --k may find more clusters.`;
  return [
    ...candidates.slice(0, 1).map(candidateWords),
    ...(k > 1 && most.clusters > k ? [more] : []),
    ...candidates.slice(1).map(candidateWords),
    ...(k > 1 ? [found] : []),
    ...(fitted === k ? [] : [strays]),
    ...(atLimit ? [limit] : []),
  ];
}

/** So many devices of a group are named. */
const NAMED = 6;

function aboutGroups({ groups, clusters }: Choice, names: readonly string[]): string[] {
  const lines = groups.map(({ devices, k }, g) => {
    const named = devices.slice(0, NAMED).map((i) => names[i]);
    const others = devices.length - named.length;
    const list = others > 0 ? `${named.join(", ")} and ${others} more` : named.join(", ");
    return `Group ${g + 1}, ${k === 1 ? "1 cluster" : `${k} clusters`}: ${list}.`;
  });
  return [
    `The devices come in ${groups.length} groups whose clusters are not each other's; all rows together have ${clusters.k}. --graph alike leaves out links between devices whose clusters differ, and cluster 1 of one group is not cluster 1 of another.`,
    ...lines,
  ];
}

/** In the words of the report. */
const VERDICTS: Readonly<Record<NonNullable<ChooseOutcome["verdict"]>, string>> = {
  clear: "The clusters of a fit with this choice are clearly apart.",
  weak: "The clusters of a fit with this choice are weakly apart.",
  none: "The clusters of a fit with this choice are not shown to be apart.",
  "too few rows": "There are too few rows to tell whether the clusters of a fit with this choice are apart.",
};

function aboutVerdict(k: number, verdict: ChooseOutcome["verdict"]): string[] {
  if (k === 1) return [];
  return [
    verdict === undefined ? "Each device has clusters of its own, which are not judged together." : VERDICTS[verdict],
  ];
}

/** Fewer rows than this of what was looked at are not taken for a cluster. */
const FEWEST_ROWS = 10;

function aboutSample(sampled: Choice["sampled"]): string[] {
  if (sampled === undefined) return [];
  const unseen = countLabel(Math.ceil((FEWEST_ROWS * sampled.of) / sampled.rows));
  return [
    `This rests on a sample of ${countLabel(sampled.rows)} of ${countLabel(sampled.of)} rows, and so do the standard errors: a cluster of fewer than about ${unseen} rows is not seen. --sample looks at more.`,
  ];
}

function aboutJudge(judge: Judge): string {
  return judge === "own"
    ? "Alpha is judged by the rows that each device kept back for itself; --judge all judges by those of all devices."
    : "Alpha is judged by the rows that all devices kept back, on the centroids of each; --judge own judges each device by its own.";
}

function aboutAlone(alone: boolean): string[] {
  if (!alone) return [];
  return ["With alpha 0 each device stays alone: cluster 1 of one device need not be cluster 1 of another."];
}

export interface ChooseFlags extends Omit<ChooseRequest, "graph" | "largestK">, SourceFlags {
  /** The largest that is tried. */
  readonly k?: number;
  readonly weighting: NonNullable<ChooseRequest["weighting"]>;
  readonly graph: string;
  readonly asIs?: boolean;
  readonly seed: number;
  /** The picture's file. */
  readonly out: string;
  readonly json?: boolean;
}

export async function runChooseCommand(patterns: readonly string[], options: ChooseFlags, io: Console): Promise<void> {
  checkSelection(options);
  const { out: picture, k: largestK } = options;
  // Which of these links are between devices that are alike is found here.
  const given = linksAmongAlike(options.graph) ?? options.graph;
  const { choice, names, verdict, warnings, flags, decisions } = await stoppableUnchanged((signal) =>
    withProgress(io, async (progress) => {
      const rows = await inputRowsOfCommand(patterns, options, io.env, {
        onProgress: (step) => onProgress(step),
        signal,
      });
      const onProgress = progressWatch(progress, rows.files);
      const context = { signal, onProgress, compute: <T>(work: () => T | Promise<T>) => interruptible(work, signal) };
      const { flags, decisions } = await proposedFlags(options, rows, context);
      const outcome = await chooseTables(
        { ...flags, ...rows, ...(largestK !== undefined && { largestK }), graph: linksOfFlag(given) },
        context,
      );
      const { drawChoice } = await import("@fedkm/tables/report");
      await writeResultFile(picture, drawChoice(outcome.choice));
      return { ...outcome, flags, decisions };
    }),
  );
  const graph = choice.groups.length > 1 ? alikeLinks(given) : given;
  const coupled = names.length > 1 && { alpha: choice.alpha };
  const command = fitCommandLine(patterns, { ...flags, graph, k: choice.fitted, ...coupled });
  const groups = choice.groups.map(({ devices, k }) => ({ devices: devices.map((i) => names[i]), k }));
  const { graph: _links, ...found } = choice;
  printAnswer(io, options.json, { ...found, groups, verdict, warnings, picture, decisions, command }, () => [
    ...(decisions === undefined ? [] : [decisions.join("; "), ""]),
    ...inWords({ choice, names, verdict, warnings, picture, command }),
  ]);
}
