// Plug-ins in Python: a module with methods, datasets and measures by name, each a function of numpy arrays. Every call is
// a process of its own that reads one frame and writes one, so that nothing is left behind between two calls.

import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { edges, type Graph, type Matrix, type Method, methodOfAnswer } from "@fedkm/core";
import { decodePipeFrame, encodePipeFrame, type Frame } from "@fedkm/files/frames";

/** Answers of large data are as large as the data. */
const LARGEST_ANSWER = 2 ** 31 - 1;

function ask(file: string, header: Frame["header"], arrays: Frame["arrays"] = []): Frame {
  const input = Buffer.concat([...encodePipeFrame(header, arrays)]);
  const answer = decodePipeFrame(calledPython(file, input));
  if (answer.header.refusal !== undefined) throw new Error(`plug-in ${file}: ${answer.header.refusal}`);
  return answer;
}

function calledPython(file: string, input: Buffer): Uint8Array {
  try {
    const stdio: ["pipe", "pipe", "pipe"] = ["pipe", "pipe", "pipe"];
    return execFileSync("python3", ["-m", "fedkm.plugin", resolve(file)], { input, maxBuffer: LARGEST_ANSWER, stdio });
  } catch (error) {
    const { stderr, message } = error as { stderr?: Buffer; message: string };
    const [reason = message] = String(stderr ?? "")
      .trim()
      .split("\n")
      .slice(-1)
      .filter(Boolean);
    throw new Error(`plug-in ${file} needs python3 with the package fedkm: ${reason}`, { cause: error });
  }
}

/** The exports of a module, as those of one in JavaScript. Options of a method are the keywords of its function. */
export function pythonPlugin(file: string): { readonly [kind: string]: object } {
  const {
    methods = {},
    datasets = [],
    measures = [],
  } = ask(file, { ask: "names" }).header as {
    methods?: Readonly<Record<string, readonly string[]>>;
    datasets?: readonly string[];
    measures?: readonly string[];
  };
  const added = {
    methods: Object.fromEntries(Object.entries(methods).map(([name, takes]) => [name, methodOf(file, name, takes)])),
    datasets: Object.fromEntries(datasets.map((name) => [name, dataOf(file, name)])),
    measures: Object.fromEntries(measures.map((name) => [name, measureOf(file, name)])),
  };
  return Object.fromEntries(Object.entries(added).filter(([, own]) => Object.keys(own).length > 0));
}

function methodOf(file: string, name: string, keywords: readonly string[]): Method {
  const takes = Object.fromEntries(keywords.map((keyword) => [keyword, ["number", "true", "false"]]));
  return methodOfAnswer(
    (datasets, graph, options) => {
      const given = Object.entries(options).filter(([, value]) => /^(number|string|boolean)$/.test(typeof value));
      const request = { ask: "method", name, ...linksOf(graph), options: Object.fromEntries(given) };
      const { header, arrays } = ask(file, request, datasets);
      const centroids = arrays.map((own) => matrixOf(own, file));
      const { messages, bytes } = header as { messages: number; bytes: number };
      return { centroids, traffic: { messages, bytes } };
    },
    { takes },
  );
}

function dataOf(file: string, name: string) {
  return (request: object) => {
    const { header, arrays } = ask(file, { ask: "data", name, request });
    const datasets = arrays.filter(({ data }) => data instanceof Float64Array).map((own) => matrixOf(own, file));
    const labels = arrays.flatMap(({ data }) => (data instanceof Uint32Array ? [data] : []));
    const { k } = header as { k?: number };
    return { datasets, ...(labels.length > 0 && { labels }), ...(k !== undefined && { k }) };
  };
}

interface Measured {
  readonly model: { readonly centroids: readonly Matrix[] };
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  readonly reference: Matrix;
}

function measureOf(file: string, name: string) {
  return ({ model, datasets, graph, reference }: Measured): number => {
    const arrays = [...datasets, ...model.centroids, reference];
    return Number(ask(file, { ask: "measure", name, ...linksOf(graph) }, arrays).header.value);
  };
}

function linksOf(graph: Graph) {
  return { devices: graph.size, links: Array.from(edges(graph), ([i, j]) => [i, j]) };
}

function matrixOf({ data, rows, cols }: Frame["arrays"][number], file: string): Matrix {
  if (data instanceof Float64Array) return { data, rows, cols };
  throw new Error(`plug-in ${file} must answer with doubles, got whole numbers`);
}
