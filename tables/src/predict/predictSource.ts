// Rows of a source labelled by a model where they are: the labels go to a new table beside them.

import type { OpenOptions } from "@fedkm/sql";
import { modelCentroids, modelDeviceOfRow, modelDeviceOrName } from "../model/labelling.ts";
import { encodingOfModel } from "../model/model.ts";
import { RequestError } from "../request.ts";
import { type PredictRequest, predictPolicy } from "./predictTables.ts";

interface SourcePrediction
  extends Pick<PredictRequest, "model" | "device" | "deviceColumn" | "missing">,
    Pick<OpenOptions, "env"> {
  readonly address: string;
  /** The new table. */
  readonly out: string;
}

/** How many rows have their label, and how many were dropped. */
export async function predictSource(request: SourcePrediction): Promise<{ rows: number; dropped: number }> {
  const { model, address, out, device, env } = request;
  if (model.scaling.transforms !== undefined) {
    throw new RequestError(
      "a model with ranks or logarithms cannot label a source: fedkm export writes the SELECT that does",
    );
  }
  const { openSource, wordsOfSqlSource } = await import("@fedkm/sql");
  const policy = predictPolicy(request);
  const fill = policy === "mean" ? model.missing.fill : undefined;
  const encoding = encodingOfModel(model);
  const deviceColumn = request.deviceColumn ?? (device === undefined ? model.reading?.deviceColumn : undefined);
  const reading = { encoding, ...(fill && { fill }), missing: "drop", read: "aggregate", env } as const;
  const names =
    deviceColumn === undefined
      ? undefined
      : (await wordsOfSqlSource(address, { env }, { columns: [], deviceColumn })).devices;
  const source = await openSource(address, reading);
  try {
    const devices = names?.flatMap((name) =>
      name === null || deviceColumn === undefined ? [] : [{ column: deviceColumn, name }],
    );
    const parts = (devices ?? [undefined]).map((own) => {
      const number =
        own === undefined
          ? modelDeviceOrName(model, device, source.name, "the source")
          : modelDeviceOfRow(model, own.name, deviceColumn ?? "", device);
      return { centroids: modelCentroids(model, number), ...(own && { device: own }) };
    });
    await source.labelInto(out, parts, model.scaling);
    const { rows, dropped } = source;
    return { rows, dropped };
  } finally {
    await source.close();
  }
}
