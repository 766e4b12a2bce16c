// A model in the language of another program: a SELECT, a graph of ONNX, JSON for scikit-learn, or a table of centroids.

import { csvRecordLine } from "@fedkm/files";
import { COMMON, type Labelling, labellingOf, modelDeviceNumber } from "../model/labelling.ts";
import type { Model } from "../model/model.ts";
import { type DialectName, type formats, RequestError } from "../request.ts";
import { onnxOf } from "./onnx.ts";
import { sqlOf } from "./sql.ts";

/** What a model becomes. */
export interface ExportOptions {
  /** The format to write. */
  readonly as: (typeof formats)[number];
  /** Whose SQL. Default "standard". */
  readonly dialect?: DialectName;
  /** The table of the SELECT. Default "rows". */
  readonly table?: string;
  /** Whose centroids: a device of the model, or "common" for those of all. Default "common". */
  readonly device?: string;
}

/** Text, or bytes of ONNX. */
export function exportModel(model: Model, { as, dialect, table, device }: ExportOptions): string | Uint8Array {
  if (as !== "sql" && (dialect ?? table) !== undefined) {
    throw new RequestError(`--name must be used with --as sql, got --as ${as}`);
  }
  if (as === "csv") {
    const number = device === undefined ? undefined : modelDeviceNumber(model, device);
    if (number !== undefined && number < 0)
      throw new RequestError(`--device must be a device of the model with --as csv, got "${COMMON}"`);
    return centroidsOf(model, number);
  }
  const labelling = labellingOf(model, device);
  if (as === "sql") return sqlOf(labelling, table ?? "rows", dialect ?? "standard");
  return as === "onnx" ? onnxOf(labelling) : sklearnOf(labelling);
}

/** What three lines of Python need: see docs/model.md. */
function sklearnOf({ columns, centroids, names, device }: Labelling): string {
  const words = columns.filter(({ value }) => value !== undefined);
  const label = ({ name, value }: (typeof columns)[number]) => (value === undefined ? name : `${name}=${value}`);
  const transformed = (kind: "log" | "rank") => columns.filter(({ transform }) => transform?.kind === kind);
  return `${JSON.stringify(
    {
      format: "fedkm-sklearn",
      device: device ?? null,
      inputs: [...new Set(columns.map(({ name }) => name))],
      categories: [...new Set(words.map(({ name }) => name))],
      columns: columns.map(label),
      fill: columns[0].fill === undefined ? null : Object.fromEntries(columns.map((own) => [label(own), own.fill])),
      log: transformed("log").map(label),
      rank: Object.fromEntries(
        transformed("rank").map((own) => [
          label(own),
          own.transform?.kind === "rank" && [own.transform.knots, own.transform.shares],
        ]),
      ),
      offset: columns.map(({ offset }) => offset),
      scale: columns.map(({ scale }) => scale),
      centroids,
      ...(names && { names }),
    },
    undefined,
    1,
  )}\n`;
}

/** One line for each cluster of each device, in the units of the files. */
function centroidsOf({ devices, columns, clusters }: Model, device: number | undefined): string {
  const named = clusters?.some(({ name }) => name !== undefined);
  const rows = devices
    .filter((_, i) => device === undefined || i === device)
    .flatMap(({ name, sizes, centroids }) =>
      centroids.map((centroid, c) => [name, c, ...(named ? [clusters?.[c].name ?? ""] : []), sizes[c], ...centroid]),
    );
  const heading = ["device", "cluster", ...(named ? ["name"] : []), "rows", ...columns];
  return [heading, ...rows].map(csvRecordLine).join("");
}
