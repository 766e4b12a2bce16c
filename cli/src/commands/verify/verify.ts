// fedkm verify: a model and its files in, its certificate computed again, and the first thing that does not fit.

import { type Certificate, type Graph, graph, type Matrix } from "@fedkm/core";
import { applyScaling, type DialectOptions, type Scaling } from "@fedkm/files";
import { type Input, readInput } from "../../../../tables/src/input/readTables.ts";
import { inputOfStudy, scalingOfStudy } from "../../../../tables/src/input/studyRows.ts";
import { encodingOfModel, type Model, selectionOfModel } from "../../../../tables/src/model/model.ts";
import { readWholeModel } from "../../../../tables/src/model/parseModel.ts";
import { isLinkRule, linkDevices } from "../../../../tables/src/prepare/links.ts";
import { chooseScaling, isUnscaled } from "../../../../tables/src/prepare/scaling.ts";
import {
  certifyModel,
  columnFault,
  deviceFault,
  fillFault,
  linkFault,
  resultFault,
  scalingFault,
} from "../../../../tables/src/verify/certificate.ts";
import type { Console } from "../../console.ts";
import { joinedNames } from "../../input/remedies.ts";
import { count, significant } from "../../numbers.ts";
import { progressOn } from "../../progress.ts";

interface VerifyOptions extends DialectOptions {
  readonly deviceColumn?: string;
  readonly json?: boolean;
}

interface Verified {
  /** Not there where the rows are not those of the model. */
  readonly certificate?: Certificate;
  /** The first thing that does not fit, in one line. */
  readonly fault?: string | undefined;
}

export async function verify(
  file: string,
  patterns: readonly string[],
  options: VerifyOptions,
  io: Console,
): Promise<void> {
  const model = readWholeModel(file);
  const progress = progressOn(io.stderr);
  let found: Verified;
  try {
    const reading = {
      dates: "days",
      ...options,
      ...selectionOfModel(model),
      missing: model.missing.policy,
    } as const;
    const input = await readInput(patterns, reading, (name) => progress.announce(`fedkm  reading ${name}`));
    found = await compareWithRows(model, model.study === undefined ? input : inputOfStudy(input, model.study));
  } finally {
    progress.erase();
  }
  const { certificate, fault } = found;
  if (options.json) {
    const summary = { model: file, verified: fault === undefined, fault: fault ?? null, certificate };
    io.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  }
  if (fault !== undefined) throw new Error(`${file} is not verified: ${fault}`);
  if (!options.json && certificate)
    io.stdout.write(`${[`${file} is verified`, ...factLines(model, certificate)].join("\n")}\n`);
}

async function compareWithRows(model: Model, input: Input): Promise<Verified> {
  const early = deviceFault(model, input) ?? columnFault(model, input) ?? fillFault(model, input);
  if (early !== undefined) return { fault: early };
  const rows = new Map(input.devices.map(({ name, points }) => [name, points]));
  const datasets = model.devices.map(({ name }) => rows.get(name) as Matrix);
  const misfit = scalingFault(model, await scalingOf(model, datasets));
  if (misfit !== undefined) return { fault: misfit };
  if (!isUnscaled(model.scaling)) for (const points of datasets) applyScaling(points, model.scaling);
  const network = networkOf(model);
  const fault = linkFault(model, network, await ruledLinks(model, datasets));
  if (fault !== undefined) return { fault };
  const certificate = certifyModel(model, datasets, network);
  return { certificate, fault: resultFault(model, datasets, certificate) };
}

async function scalingOf(model: Model, datasets: readonly Matrix[]): Promise<Scaling> {
  const { study, scaling, columns } = model;
  if (study !== undefined) return scalingOfStudy(study);
  // The bounds come from a file that is not the model's.
  if (scaling.kind === "bounds") return scaling;
  const logarithms = columns.filter((_, c) => scaling.transforms?.[c]?.kind === "log");
  const spec = scaling.kind === "log" ? `log:${joinedNames(logarithms)}` : scaling.kind;
  return (await chooseScaling(spec, encodingOfModel(model), datasets)).scaling;
}

function networkOf({ devices, links }: Model): Graph {
  const numbers = new Map(devices.map(({ name }, i) => [name, i]));
  const number = (name: string) => numbers.get(name) ?? -1;
  return graph(
    devices.length,
    links.map(({ devices: [a, b], weight }) => [number(a), number(b), weight] as const),
  );
}

/** The links that the options ask for, where that takes no file. */
async function ruledLinks({ options, devices }: Model, datasets: readonly Matrix[]): Promise<Graph | undefined> {
  const names = devices.map(({ name }) => name);
  return isLinkRule(options.graph) ? linkDevices(options.graph, names, datasets, options.seed) : undefined;
}

function factLines({ devices, options, rounds, converged }: Model, certificate: Certificate): string[] {
  const { objective, residual, relativeResidual, largestRise, ties } = certificate;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  return [
    `${count(devices.length)} devices, ${count(rows)} rows, ${options.method}, k = ${options.k}, alpha = ${options.alpha}`,
    `objective ${significant(objective, 4)}, ${converged ? "settled" : "stopped"} after ${count(rounds)} rounds, largest rise ${significant(largestRise, 2)}`,
    `one more update moves a centroid by at most ${significant(residual, 2)}, ${significant(relativeResidual, 2)} of the range of the rows`,
    `${significant(100 * ties, 2)} % of the rows are as near to a second centroid, within rounding`,
  ];
}
