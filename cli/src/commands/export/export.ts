// fedkm export: a model in the language of another program.

import type { ExportOptions } from "../../../../tables/src/export/formats.ts";
import { onnxOf } from "../../../../tables/src/export/onnx.ts";
import { sqlOf } from "../../../../tables/src/export/sql.ts";
import { centroidsOf, sklearnOf } from "../../../../tables/src/export/tables.ts";
import { COMMON, labellingOf, placeOf } from "../../../../tables/src/model/labelling.ts";
import type { Model } from "../../../../tables/src/model/model.ts";
import { readModel } from "../../../../tables/src/model/parseModel.ts";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { writeWhole } from "../../write.ts";
import { pmmlOf } from "./pmml.ts";

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
