// A model as an ONNX graph: one input for each column of the files, the cluster and its distance as outputs.

import type { LabelColumn, Labelling } from "../model/labelling.ts";

// Protocol buffers as bytes: messages of numbered fields, written in order.

type Field = readonly [number: number, value: bigint | number | string | Uint8Array | readonly Field[]];
/** Numbers are varints; texts, bytes and messages have their length in front. */
type Message = readonly Field[];

const encoder = new TextEncoder();

function encode(message: Message): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of message) {
    if (typeof value === "number" || typeof value === "bigint") {
      parts.push(varint(BigInt(number) << 3n), varint(BigInt.asUintN(64, BigInt(value))));
      continue;
    }
    const bytes =
      typeof value === "string" ? encoder.encode(value) : value instanceof Uint8Array ? value : encode(value);
    parts.push(varint((BigInt(number) << 3n) | 2n), varint(BigInt(bytes.length)), bytes);
  }
  return Buffer.concat(parts);
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
  int: (name: string, value: number): Message => [
    [1, name],
    [3, value],
    [20, 2],
  ],
  ints: (name: string, values: readonly number[]): Message => [
    [1, name],
    ...values.map((value) => [8, value] as const),
    [20, 7],
  ],
  strings: (name: string, values: readonly string[]): Message => [
    [1, name],
    ...values.map((value) => [9, value] as const),
    [20, 8],
  ],
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
    this.nodes.push([
      ...inputs.map((name) => [1, name] as const),
      [2, output],
      [3, `${operator}_${this.nodes.length}`],
      [4, operator],
      ...own.map((attribute) => [5, attribute] as const),
      ...(domain === "" ? [] : [[7, domain] as const]),
    ]);
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
    this.constants.push([...shape.map((size) => [1, size] as const), [2, type], [8, name], [9, bytes]]);
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
  return encode([
    [1, IR_VERSION],
    [2, "fedkm"],
    [
      7,
      [
        ...graph.nodes.map((node) => [1, node] as const),
        [2, "clusters"],
        ...graph.constants.map((own) => [5, own] as const),
        ...inputs.map((own) => [11, own] as const),
        [12, valueInfo("cluster", INT64, ["rows"])],
        [12, valueInfo("distance", DOUBLE, ["rows"])],
      ],
    ],
    [
      8,
      [
        [1, ""],
        [2, OPSET],
      ],
    ],
    [
      8,
      [
        [1, "ai.onnx.ml"],
        [2, ML_OPSET],
      ],
    ],
    ...(labelling.names ?? []).map(
      (name, c) =>
        [
          14,
          [
            [1, `cluster ${c}`],
            [2, name],
          ],
        ] as const,
    ),
  ]);
}

function valueInfo(name: string, type: number, shape: readonly (string | number)[]): Message {
  const dimensions: Message = shape.map((size) => [1, [[typeof size === "number" ? 1 : 2, size]]]);
  return [
    [1, name],
    [
      2,
      [
        [
          1,
          [
            [1, type],
            [2, dimensions],
          ],
        ],
      ],
    ],
  ];
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
  const share = graph.node("Div", [
    into,
    graph.doubles(
      pieces.map((knot, i) => knot - knots[i]),
      shape,
    ),
  ]);
  const within = graph.node("Clip", [share, graph.doubles([0], []), graph.doubles([1], [])]);
  const rises = graph.node("Mul", [
    within,
    graph.doubles(
      pieces.map((_, i) => shares[i + 1] - shares[i]),
      shape,
    ),
  ]);
  const risen = graph.node("ReduceSum", [rises, graph.whole([1])], [attributes.int("keepdims", 1)]);
  return graph.node("Add", [risen, one(shares[0])]);
}

/** 1 for the row's value and 0 for the others; without one of them what takes its place, or not a number. */
function categoryOf(graph: Graph, columns: readonly LabelColumn[]): string {
  const values = columns.map(({ value = "" }) => value);
  const shape = [1, values.length];
  const own = [attributes.strings("cats_strings", values), attributes.int("zeros", 1)];
  const marked = graph.node("OneHotEncoder", [columns[0].name], own, { domain: "ai.onnx.ml" });
  const flat = graph.node("Reshape", [marked, graph.whole([-1, values.length])]);
  const marks = graph.node("Cast", [flat], [attributes.int("to", DOUBLE)]);
  const known = graph.node("ReduceSum", [marks, graph.whole([1])], [attributes.int("keepdims", 1)]);
  const isKnown = graph.node("Greater", [known, graph.doubles([0.5], [1, 1])]);
  const rest = graph.doubles(
    columns.map(({ fill = Number.NaN }) => fill),
    shape,
  );
  return graph.node("Where", [isKnown, marks, rest]);
}
