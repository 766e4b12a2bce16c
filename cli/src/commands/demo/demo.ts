// fedkm demo: ten devices that agree over real sockets, five methods in memory beside them, one table, one picture.

import { consensusVariation, edges, globalCentroidDeviation, objective } from "@fedkm/core";
import { playgroundState } from "@fedkm/web";
import { bold, type Console, isStyled } from "../../console.ts";
import { count, duration, significant, times } from "../../numbers.ts";
import { progressOn } from "../../progress.ts";
import { alignColumns, wrap } from "../../table.ts";
import { writeWhole } from "../../write.ts";
import { type Comparison, compare, demoProblem, LINK_PROBABILITY, type MethodName, methodNames } from "./comparison.ts";
import { type DevicesResult, runDevices } from "./devices.ts";

export interface DemoOptions {
  readonly seed: number;
  /** The picture's file. */
  readonly out: string;
  readonly json?: boolean;
  /** No processes and no sockets: the devices run in this one. */
  readonly inProcess?: boolean;
}

export async function demo(options: DemoOptions, { stdout, stderr, env }: Console): Promise<void> {
  const { seed, out, json } = options;
  const progress = progressOn(stderr);
  let comparison: Comparison;
  let devices: DevicesResult;
  try {
    const problem = demoProblem(seed);
    const reason = options.inProcess ? "asked for by --in-process" : undefined;
    devices = await runDevices(problem, reason, (text) => progress.show(`fedkm  ${text}`));
    comparison = compare(problem, ({ round, objective }) => {
      progress.show(`fedkm  round ${round}/${problem.rounds}  objective ${significant(objective, 4)}`);
    });
    progress.announce("fedkm  drawing the picture");
    const { drawPicture } = await import("./picture/picture.ts");
    await writeWhole(out, drawPicture(comparison));
  } finally {
    progress.erase();
  }
  const demonstrated = { ...comparison, devices };
  if (json) stdout.write(`${JSON.stringify(summary(demonstrated, out), undefined, 2)}\n`);
  else stdout.write(`${report(demonstrated, out, isStyled(stdout, env)).join("\n")}\n`);
}

interface Demonstrated extends Comparison {
  readonly devices: DevicesResult;
}

/** The devices' centroids by the measures of the methods beside them. */
function measured({ problem, reference, devices }: Demonstrated) {
  const { centroids, messages, bytes, milliseconds } = devices;
  return {
    globalCentroidDeviation: globalCentroidDeviation(centroids, reference),
    consensusVariation: consensusVariation(centroids, problem.graph),
    objective: objective(problem.datasets, centroids, problem.graph, { alpha: problem.alpha }),
    messages,
    bytes,
    milliseconds,
  };
}

/** The same facts for a machine, with all their digits. */
function summary(demonstrated: Demonstrated, picture: string) {
  const { problem, results } = demonstrated;
  const { seed, k, alpha, datasets, graph } = problem;
  const methods = methodNames.map((name) => {
    const { model, deviation, variation, milliseconds } = results[name];
    const { objective, rounds, converged, messages, bytes } = model;
    const quality = { globalCentroidDeviation: deviation, consensusVariation: variation, objective };
    return [name, { ...quality, rounds, converged, messages, bytes, milliseconds }] as const;
  });
  const links = Array.from(edges(graph)).length;
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const { isAgreed, inProcess = null } = demonstrated.devices;
  const processes = { ...measured(demonstrated), isAgreed, inProcess };
  return {
    seed,
    devices: graph.size,
    links,
    points,
    k,
    alpha,
    processes,
    methods: Object.fromEntries(methods),
    picture,
  };
}

function report(demonstrated: Demonstrated, picture: string, styled: boolean): string[] {
  const { seed, k, alpha, datasets, graph } = demonstrated.problem;
  const links = Array.from(edges(graph)).length;
  const problem = `${graph.size} devices, ${datasets[0].rows} points each, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}`;
  const texts = [whatRan(demonstrated.devices), columnsExplained, whatIsSeen(demonstrated)];
  const paragraphs = texts.flatMap((text) => ["", ...wrap(text, 80)]);
  const watch = ["watch fedkm:", `  fedkm playground '${stateOf(demonstrated)}'`];
  return [problem, "", ...resultTable(demonstrated, styled), ...paragraphs, "", ...watch, `picture: ${picture}`];
}

/** The page draws the same points and links. */
function stateOf({ problem: { seed, k, alpha, preset, datasets, graph } }: Demonstrated): string {
  const size = { devices: graph.size, points: datasets[0].rows, density: LINK_PROBABILITY };
  return playgroundState({ data: "iso", ...size, k, alpha, preset, start: "local", seed });
}

function whatRan({ inProcess, isAgreed }: DevicesResult): string {
  const same =
    "They run the update of fedkm whenever they hear something, without a coordinator." +
    (isAgreed ? "" : " They had not agreed yet when the demo ended: this machine is slow or busy.");
  return inProcess === undefined
    ? `devices: ten processes on this machine, linked over TCP, encrypted; all are stopped again. ${same}`
    : `devices: simulated in this process (${inProcess}). ${same}`;
}

const columnsExplained =
  "GCD is the mean squared distance from a device's centroids to the pooled ones, CV to its neighbours' (0: the same). " +
  "pooled moves every raw record to one place; fedkm, consensus and distributed send only centroids and counts; " +
  "local sends nothing.";

function resultTable(demonstrated: Demonstrated, styled: boolean): string[] {
  const { results } = demonstrated;
  const real = measured(demonstrated);
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
  const devices = [
    "devices",
    significant(real.globalCentroidDeviation, 2),
    significant(real.consensusVariation, 2),
    significant(real.objective, 4),
    count(real.messages),
    count(real.bytes),
    duration(real.milliseconds),
  ];
  const best = nearestToPooled(results);
  const column = heading.indexOf("GCD");
  return alignColumns([heading, devices, ...rows], (text, row, at) =>
    bold(text, styled && at === column && row > 1 && methodNames[row - 2] === best),
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
