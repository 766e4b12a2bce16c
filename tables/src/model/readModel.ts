// The model of a file, in Node.

import { readFileSync } from "node:fs";
import { DataError, fileSystemReason } from "@fedkm/files";
import type { Model } from "./model.ts";
import { parseModel, parseWholeModel } from "./parseModel.ts";

/** The model of a file. `whole`: also what only its certificate needs is checked. */
export function readModel(file: string, { whole = false } = {}): Model {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new DataError({ file }, "be a model file", fileSystemReason(error), "write one with fedkm fit", {
      cause: error,
    });
  }
  return whole ? parseWholeModel(text, file) : parseModel(text, file);
}
