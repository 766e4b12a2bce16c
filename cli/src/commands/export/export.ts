// fedkm export: a model in the language of another program.

import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { COMMON, labellingOf, placeOf } from "../../model/labelling.ts";
import type { Model } from "../../model/model.ts";
import { readModel } from "../../model/read.ts";
import { writeWhole } from "../../write.ts";
import type { ExportOptions } from "./formats.ts";
import { onnxOf } from "./onnx.ts";
import { pmmlOf } from "./pmml.ts";
import { sqlOf } from "./sql.ts";
import { centroidsOf, sklearnOf } from "./tables.ts";

export async function exportModel(file: string, options: ExportOptions, io: Console): Promise<void> {
  const { as, out } = options;
  if (as !== "sql" && (options.dialect ?? options.table) !== undefined) {
    throw new UsageError(`--dialect and --table must be used with --as sql, got --as ${as}`);
  }
  if (as === "onnx" && out === undefined) {
    throw new UsageError("--out must name a file for a graph of ONNX, which is not text, got nothing");
  }
  const content = contentOf(readModel(file), options);
  if (out === undefined) io.stdout.write(content as string);
  else {
    await writeWhole(out, content);
    io.stdout.write(`wrote ${out}\n`);
  }
}

function contentOf(
  model: Model,
  { as, dialect = "standard", table = "rows", place }: ExportOptions,
): string | Uint8Array {
  if (as === "csv") {
    const number = place === undefined ? undefined : placeOf(model, place);
    if (number !== undefined && number < 0)
      throw new UsageError(`--place must be a device of the model with --as csv, got "${COMMON}"`);
    return centroidsOf(model, number);
  }
  const labelling = labellingOf(model, place);
  if (as === "sql") return sqlOf(labelling, table, dialect);
  return { onnx: onnxOf, pmml: pmmlOf, sklearn: sklearnOf }[as](labelling);
}
