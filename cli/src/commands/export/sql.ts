// A model as a SELECT that labels the rows of a table: cells to numbers, distances to centroids, the nearest of them.

import type { LabelColumn, Labelling } from "../../model/labelling.ts";
import { type Dialect, dialects } from "./dialect.ts";
import type { DialectName } from "./formats.ts";

/** Names that no column of a table is likely to have. */
const [ROW, NEAREST] = ["fedkm_row", "fedkm_nearest"];
const cellName = (i: number) => `fedkm_c${i}`;
const numberName = (x: number) => `fedkm_x${x}`;
const distanceName = (c: number) => `fedkm_d${c}`;

export function sqlOf(labelling: Labelling, table: string, dialectName: DialectName): string {
  const dialect = dialects[dialectName];
  const steps = stepsOf(labelling, dialect);
  const { names, place } = labelling;
  // The first of equal distances is the lowest number.
  const nearest = (of: readonly string[]) =>
    `CASE WHEN ${distanceName(0)} IS NULL THEN NULL ${of.map((own, c) => `WHEN ${distanceName(c)} = ${NEAREST} THEN ${own}`).join(" ")} END`;
  const numbered = nearest(labelling.centroids.map((_, c) => String(c)));
  const named = names && nearest(names.map(dialect.text));
  const about = [
    `-- The cluster of every row by the centroids of ${place === undefined ? "all places together" : `place ${JSON.stringify(place)}`}, made by fedkm export.`,
    "-- A row that lacks a value which the model needs has the cluster NULL.",
  ];
  const body = dialectName === "clickhouse" ? withAliases(steps, dialect) : withLaterals(steps, dialect);
  return `${about.join("\n")}\n${body(
    [`${numbered} AS ${dialect.name("cluster")}`, ...(named ? [`${named} AS ${dialect.name("cluster_name")}`] : [])],
    dialect.name(table),
  )};\n`;
}

/** Expressions by their short names: cells as they are, numbers that are compared, distances, and the least of them. */
interface Steps {
  readonly cells: readonly (readonly [name: string, expression: (column: string) => string, column: string])[];
  readonly numbers: readonly (readonly [name: string, expression: string])[];
  readonly distances: readonly (readonly [name: string, expression: string])[];
  readonly least: string;
}

function stepsOf({ columns, centroids }: Labelling, dialect: Dialect): Steps {
  const names = [...new Set(columns.map(({ name }) => name))];
  const isWord = (name: string) => columns.some((column) => column.name === name && column.value !== undefined);
  return {
    cells: names.map((name, i) => [cellName(i), isWord(name) ? dialect.word : dialect.double, name]),
    numbers: columns.map((column, x) => [
      numberName(x),
      numberOf(column, cellName(names.indexOf(column.name)), columns, dialect),
    ]),
    distances: centroids.map((centroid, c) => [
      distanceName(c),
      centroid.map((value, x) => squared(`(${numberName(x)} - ${dialect.number(value)})`)).join(" + "),
    ]),
    least: dialect.least(centroids.map((_, c) => distanceName(c))),
  };
}

const squared = (of: string) => `${of} * ${of}`;

function numberOf(column: LabelColumn, cell: string, columns: readonly LabelColumn[], dialect: Dialect): string {
  const { value, offset, scale, fill } = column;
  const scaled = (of: string) => `(${of} - ${dialect.number(offset)}) / ${dialect.number(scale)}`;
  if (value === undefined) return scaled(transformed(column, cell, dialect));
  const values = columns.filter(({ name }) => name === column.name).map((own) => dialect.text(own.value ?? ""));
  const rest = fill === undefined ? "NULL" : dialect.number(fill);
  const isOther = values.filter((own) => own !== dialect.text(value)).join(", ");
  const others = isOther === "" ? "" : ` WHEN ${cell} IN (${isOther}) THEN ${dialect.number(0)}`;
  return scaled(`CASE WHEN ${cell} = ${dialect.text(value)} THEN ${dialect.number(1)}${others} ELSE ${rest} END`);
}

/** A cell with what takes its place if it is missing, by the rule that it had before it was scaled. */
function transformed({ transform, fill }: LabelColumn, cell: string, dialect: Dialect): string {
  const filled = (of: string) => (fill === undefined ? of : `COALESCE(${of}, ${dialect.number(fill)})`);
  if (transform === null) return filled(cell);
  if (transform.kind === "log") {
    return dialect.logarithm(filled(`CASE WHEN ${cell} > ${dialect.number(0)} THEN ${cell} END`));
  }
  const { knots, shares } = transform;
  const own = filled(cell);
  const last = knots.length - 1;
  const between = knots.slice(1).map((knot, i) => {
    const slope = `(${own} - ${dialect.number(knots[i])}) / ${dialect.number(knot - knots[i])}`;
    const share = `${dialect.number(shares[i])} + ${slope} * ${dialect.number(shares[i + 1] - shares[i])}`;
    return `WHEN ${own} < ${dialect.number(knot)} THEN ${share}`;
  });
  return (
    `CASE WHEN ${own} IS NULL THEN NULL WHEN ${own} <= ${dialect.number(knots[0])} THEN ${dialect.number(shares[0])} ` +
    `${between.join(" ")} ELSE ${dialect.number(shares[last])} END`
  );
}

type Body = (selected: readonly string[], table: string) => string;

/** Standard SQL: each step is a subquery beside the row, so that only what is wanted comes out. */
function withLaterals({ cells, numbers, distances, least }: Steps, dialect: Dialect): Body {
  const step = (name: string, of: readonly (readonly [string, string])[]) =>
    `CROSS JOIN LATERAL (SELECT ${of.map(([own, expression]) => `${expression} AS ${own}`).join(",\n  ")}) AS ${name}`;
  const read = cells.map(([own, expression, column]) => [own, expression(`${ROW}.${dialect.name(column)}`)] as const);
  return (selected, table) =>
    [
      `SELECT ${ROW}.*,\n  ${selected.join(",\n  ")}`,
      `FROM ${table} AS ${ROW}`,
      step("fedkm_cells", read),
      step("fedkm_numbers", numbers),
      step("fedkm_distances", distances),
      step("fedkm_least", [[NEAREST, least]]),
    ].join("\n");
}

/** ClickHouse gives names to expressions in front of a query. */
function withAliases({ cells, numbers, distances, least }: Steps, dialect: Dialect): Body {
  const read = cells.map(([own, expression, column]) => [own, expression(dialect.name(column))] as const);
  const named = [...read, ...numbers, ...distances, [NEAREST, least] as const];
  return (selected, table) =>
    `WITH ${named.map(([own, expression]) => `${expression} AS ${own}`).join(",\n  ")}\nSELECT *,\n  ${selected.join(",\n  ")}\nFROM ${table}`;
}
