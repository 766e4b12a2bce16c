// Whether a model is what its rows and its options give: its certificate computed again, and the first thing that does not fit.

import { type Certificate, type Graph, graph, type Matrix } from "@fedkm/core";
import { applyScaling, type Scaling } from "@fedkm/files";
import { type Input, type RowsRequest, readRows } from "../input/readTables.ts";
import { encodingOfModel, type Model, selectionOfModel } from "../model/model.ts";
import { isLinkRule, linkDevices } from "../prepare/links.ts";
import { chooseScaling, isUnscaled } from "../prepare/scaling.ts";
import { rowsOfStudy, type StudyPlan, scalingOfStudy } from "../prepare/studyRows.ts";
import { joinedNames } from "../shellWords.ts";
import type { WorkContext } from "../work.ts";
import {
  certifyModel,
  columnFault,
  deviceFault,
  fillFault,
  linkFault,
  resultFault,
  scalingFault,
} from "./certificate.ts";

export interface VerifyRequest extends Omit<RowsRequest, "missing" | "columns" | "exclude" | "categories" | "sample"> {
  /** Checked by `parseModel` as a whole. */
  readonly model: Model;
  /** Of a model of simulated devices. */
  readonly study?: StudyPlan;
}

export interface Verification {
  /** Not there where the rows are not those of the model. */
  readonly certificate?: Certificate;
  /** The first thing that does not fit, in one line. */
  readonly fault?: string | undefined;
}

export async function verifyTables(request: VerifyRequest, context: WorkContext = {}): Promise<Verification> {
  const { model, study, ...rows } = request;
  const reading = { dates: "days", ...rows, ...selectionOfModel(model), missing: model.missing.policy } as const;
  const input = await readRows(reading, context, { examine: false });
  return compareWithRows(model, study === undefined ? input : rowsOfStudy(input, study), study);
}

async function compareWithRows(model: Model, input: Input, plan: StudyPlan | undefined): Promise<Verification> {
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
  const certificate = certifyModel(model, datasets, network, plan);
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
