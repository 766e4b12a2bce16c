// The recording of a device, from its file.

import { readFile } from "node:fs/promises";
import { parseRecording, type Recording } from "@fedkm/device/inspect";
import { systemReason } from "@fedkm/files";

export async function readRecording(file: string): Promise<Recording[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${file}: ${systemReason(error)}`, { cause: error });
  }
  try {
    return parseRecording(text);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
