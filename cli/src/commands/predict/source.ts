// fedkm predict of a source: labels are written where the rows are, and only when a table for them is named.

import { env } from "node:process";
import { isAddress } from "@fedkm/sql/address";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { scaledCentroids } from "../../model/model.ts";
import { readModel } from "../../model/read.ts";
import { count } from "../../numbers.ts";

interface PredictSourceOptions {
  readonly model: string;
  readonly device?: string;
  readonly deviceColumn?: string;
  readonly out?: string;
  readonly into?: string;
  readonly json?: boolean;
}

export async function predictSource(address: string, options: PredictSourceOptions, io: Console): Promise<void> {
  const { into, out, deviceColumn, json = false } = options;
  if (!isAddress(address)) throw new UsageError("--into is for sources: labels of a file go to --out");
  if (into === undefined) {
    throw new UsageError("--into must name the new table for the labels of a source, got nothing: nothing is written");
  }
  if (out !== undefined || deviceColumn !== undefined) {
    throw new UsageError(
      "--out and --device-column are for files: the labels of a source go to a table beside its rows",
    );
  }
  const model = readModel(options.model);
  if (model.encoding !== undefined || model.scaling.transforms !== undefined) {
    throw new UsageError("a model with categories, ranks or logarithms cannot label a source");
  }
  const { openSource } = await import("@fedkm/sql");
  const source = await openSource(address, { columns: model.columns, missing: "drop", way: "pushed", env });
  try {
    const device = deviceOf(model.devices, options.device ?? source.name, options.device !== undefined);
    await source.labelInto(into, scaledCentroids(device, model.scaling), model.scaling);
    const { rows, dropped } = source;
    if (json) io.stdout.write(`${JSON.stringify({ source: address, model: options.model, rows, dropped, into })}\n`);
    else io.stdout.write(`${count(rows)} rows labelled: table ${into}\n`);
  } finally {
    await source.close();
  }
}

function deviceOf<Device extends { readonly name: string }>(
  devices: readonly Device[],
  name: string,
  isGiven: boolean,
): Device {
  const found = devices.length === 1 && !isGiven ? devices[0] : devices.find((device) => device.name === name);
  if (found !== undefined) return found;
  const known = devices.map((device) => device.name).join(", ");
  throw new UsageError(`--device must be a device of the model (${known}), got "${name}"`);
}
