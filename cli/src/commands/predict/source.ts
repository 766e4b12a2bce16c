// fedkm predict of a source: labels are written where the rows are, and only when a table for them is named.

import type { MissingPolicy } from "@fedkm/files";
import { centroidsAt, deviceOrName } from "@fedkm/tables";
import { readModel } from "@fedkm/tables/node";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import type { LabelFlags } from "../../input/options.ts";
import { count } from "../../numbers.ts";

interface PredictSourceOptions extends LabelFlags {
  readonly model: string;
  readonly device?: string;
  readonly deviceColumn?: string;
  readonly missing?: MissingPolicy;
  readonly out?: string;
  readonly json?: boolean;
}

export async function predictSource(address: string, options: PredictSourceOptions, io: Console): Promise<void> {
  const { out, deviceColumn, labelsAs, distances, missing, device, json = false } = options;
  if (out === undefined) throw new UsageError("labels of a source need --out TABLE, the new table for them");
  const forFiles = Object.entries({
    "--device-column": deviceColumn,
    "--labels-as": labelsAs,
    "--distances": distances,
    "--missing": missing === "drop" ? undefined : missing,
  }).find(([, given]) => given !== undefined);
  if (forFiles !== undefined) {
    throw new UsageError(
      `${forFiles[0]} is for files: the clusters of a source go to a table beside its rows, without rows that lack a number`,
    );
  }
  const model = readModel(options.model);
  if (model.encoding !== undefined || model.scaling.transforms !== undefined) {
    throw new UsageError("a model with categories, ranks or logarithms cannot label a source");
  }
  const { openSource } = await import("@fedkm/sql");
  const source = await openSource(address, { columns: model.columns, missing: "drop", read: "aggregate", env: io.env });
  try {
    const number = deviceOrName(model, device, source.name, "the source");
    await source.labelInto(out, centroidsAt(model, number), model.scaling);
    const { rows, dropped } = source;
    if (json)
      io.stdout.write(`${JSON.stringify({ source: address, model: options.model, rows, dropped, into: out })}\n`);
    else io.stdout.write(`${count(rows)} rows labelled: table ${out}\n`);
  } finally {
    await source.close();
  }
}
