// A model as an ONNX graph: one input for each column of the files, the cluster and its distance as outputs.

import type { LabelColumn, Labelling } from "../model/labelling.ts";

// Protocol buffers as bytes: messages of numbered fields, written in order.

type Value = bigint | number | string | Uint8Array | Message;
/** Fields by their numbers, in whose order they are written; a list is a field that is repeated. */
interface Message {
  readonly [field: number]: Value | readonly Value[];
}

const encoder = new TextEncoder();

function encode(message: Message): Uint8Array {
  const parts = Object.entries(message).flatMap(([number, values]) =>
    [values].flat().flatMap((value: Value) => encodeField(BigInt(number), value)),
  );
  return Buffer.concat(parts);
}

/** Numbers are varints; texts, bytes and messages have their length in front. */
function encodeField(number: bigint, value: Value): Uint8Array[] {
  if (typeof value === "number" || typeof value === "bigint")
    return [varint(number << 3n), varint(BigInt.asUintN(64, BigInt(value)))];
  const bytes = typeof value === "string" ? encoder.encode(value) : value instanceof Uint8Array ? value : encode(value);
  return [varint((number << 3n) | 2n), varint(BigInt(bytes.length)), bytes];
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

/** By the numbers that the format gives types of tensors, and versions that runtimes of 2021 and later know. */
const [DOUBLE, INT64, STRING] = [11, 7, 8];
const [IR_VERSION, OPSET, ML_OPSET] = [8, 15, 2];

/** Of attributes, by the numbers of their types. */
const attributes = {
  int: (name: string, value: number): Message => ({ 1: name, 3: value, 20: 2 }),
  ints: (name: string, values: readonly number[]): Message => ({ 1: name, 8: values, 20: 7 }),
  strings: (name: string, values: readonly string[]): Message => ({ 1: name, 9: values, 20: 8 }),
};

class Graph {
  readonly nodes: Message[] = [];
  readonly constants: Message[] = [];
  #names = 0;

  /** A node of one output, whose name it returns. */
  node(
    operator: string,
    inputs: readonly string[],
    own: readonly Message[] = [],
    { output = `t${this.#names++}`, domain = "" } = {},
  ) {
    const called = `${operator}_${this.nodes.length}`;
    this.nodes.push({ 1: inputs, 2: output, 3: called, 4: operator, 5: own, 7: domain === "" ? [] : domain });
    return output;
  }

  doubles(values: readonly number[], shape: readonly number[]): string {
    return this.#constant(DOUBLE, shape, new Uint8Array(Float64Array.from(values).buffer));
  }

  whole(values: readonly number[]): string {
    return this.#constant(INT64, [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
  }

  #constant(type: number, shape: readonly number[], bytes: Uint8Array): string {
    const name = `k${this.#names++}`;
    this.constants.push({ 1: shape, 2: type, 8: name, 9: bytes });
    return name;
  }
}

export function onnxOf(labelling: Labelling): Uint8Array {
  const { columns, centroids } = labelling;
  const graph = new Graph();
  const names = [...new Set(columns.map(({ name }) => name))];
  const parts = names.map((name) => {
    const own = columns.filter((column) => column.name === name);
    return own[0].value === undefined ? numberOf(graph, own[0]) : categoryOf(graph, own);
  });
  const numbers = parts.length === 1 ? parts[0] : graph.node("Concat", parts, [attributes.int("axis", 1)]);
  const [k, d] = [centroids.length, columns.length];
  const constant = (of: (column: LabelColumn) => number) => graph.doubles(columns.map(of), [1, d]);
  const moved = graph.node("Sub", [numbers, constant(({ offset }) => offset)]);
  const scaled = graph.node("Div", [moved, constant(({ scale }) => scale)]);
  const rows = graph.node("Unsqueeze", [scaled, graph.whole([1])]);
  const apart = graph.node("Sub", [rows, graph.doubles(centroids.flat(), [1, k, d])]);
  const squares = graph.node("Mul", [apart, apart]);
  const sums = graph.node("ReduceSum", [squares, graph.whole([2])], [attributes.int("keepdims", 0)]);
  const nearest = graph.node("ArgMin", [sums], [attributes.int("axis", 1), attributes.int("keepdims", 0)]);
  const least = graph.node("ReduceMin", [sums], [attributes.ints("axes", [1]), attributes.int("keepdims", 0)]);
  const total = graph.node("ReduceSum", [sums, graph.whole([1])], [attributes.int("keepdims", 0)]);
  const isMissing = graph.node("IsNaN", [total]);
  graph.node("Where", [isMissing, graph.whole([-1]), nearest], [], { output: "cluster" });
  graph.node("Sqrt", [least], [], { output: "distance" });
  const inputs = names.map((name) => {
    const isWord = columns.some((column) => column.name === name && column.value !== undefined);
    return valueInfo(name, isWord ? STRING : DOUBLE, ["rows", 1]);
  });
  const outputs = [valueInfo("cluster", INT64, ["rows"]), valueInfo("distance", DOUBLE, ["rows"])];
  return encode({
    1: IR_VERSION,
    2: "fedkm",
    7: { 1: graph.nodes, 2: "clusters", 5: graph.constants, 11: inputs, 12: outputs },
    8: [
      { 1: "", 2: OPSET },
      { 1: "ai.onnx.ml", 2: ML_OPSET },
    ],
    14: (labelling.names ?? []).map((name, c) => ({ 1: `cluster ${c}`, 2: name })),
  });
}

function valueInfo(name: string, type: number, shape: readonly (string | number)[]): Message {
  const dimensions = shape.map((size) => ({ [typeof size === "number" ? 1 : 2]: size }));
  return { 1: name, 2: { 1: { 1: type, 2: { 1: dimensions } } } };
}

/** With what takes the place of a missing value, before it is scaled. */
function numberOf(graph: Graph, { name, transform, fill }: LabelColumn): string {
  const one = (value: number) => graph.doubles([value], [1, 1]);
  const filled = (of: string) =>
    fill === undefined ? of : graph.node("Where", [graph.node("IsNaN", [of]), one(fill), of]);
  if (transform === null) return filled(name);
  if (transform.kind === "log") {
    const isAbove = graph.node("Greater", [name, one(0)]);
    return graph.node("Log", [filled(graph.node("Where", [isAbove, name, one(Number.NaN)]))]);
  }
  const { knots, shares } = transform;
  if (knots.length === 1) return graph.node("Add", [graph.node("Mul", [filled(name), one(0)]), one(shares[0])]);
  // A sum over the pieces between knots, each from 0 to all of its rise.
  const pieces = knots.slice(1);
  const shape = [1, pieces.length];
  const into = graph.node("Sub", [filled(name), graph.doubles(knots.slice(0, -1), shape)]);
  const lengths = pieces.map((knot, i) => knot - knots[i]);
  const share = graph.node("Div", [into, graph.doubles(lengths, shape)]);
  const within = graph.node("Clip", [share, graph.doubles([0], []), graph.doubles([1], [])]);
  const steps = pieces.map((_, i) => shares[i + 1] - shares[i]);
  const rises = graph.node("Mul", [within, graph.doubles(steps, shape)]);
  const risen = graph.node("ReduceSum", [rises, graph.whole([1])], [attributes.int("keepdims", 1)]);
  return graph.node("Add", [risen, one(shares[0])]);
}

/** 1 for the row's value and 0 for the others; without one of them what takes its place, or not a number. */
function categoryOf(graph: Graph, columns: readonly LabelColumn[]): string {
  const values = columns.map(({ value = "" }) => value);
  const own = [attributes.strings("cats_strings", values), attributes.int("zeros", 1)];
  const marked = graph.node("OneHotEncoder", [columns[0].name], own, { domain: "ai.onnx.ml" });
  const flat = graph.node("Reshape", [marked, graph.whole([-1, values.length])]);
  const marks = graph.node("Cast", [flat], [attributes.int("to", DOUBLE)]);
  const known = graph.node("ReduceSum", [marks, graph.whole([1])], [attributes.int("keepdims", 1)]);
  const isKnown = graph.node("Greater", [known, graph.doubles([0.5], [1, 1])]);
  const fills = columns.map(({ fill = Number.NaN }) => fill);
  return graph.node("Where", [isKnown, marks, graph.doubles(fills, [1, fills.length])]);
}
