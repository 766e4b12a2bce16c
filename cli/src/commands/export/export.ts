// fedkm export: a model in the language of another program, in a file or on the standard output.

import { type ExportOptions, exportModel } from "@fedkm/tables";
import { readModel } from "@fedkm/tables/node";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { writeResultFile } from "../../write.ts";

export interface ExportFlags extends Omit<ExportOptions, "table"> {
  readonly name?: string;
  readonly out?: string;
}

export async function runExportCommand(file: string, flags: ExportFlags, io: Console): Promise<void> {
  const { as, out, name: table } = flags;
  if (as === "onnx" && out === undefined) throw new UsageError("--as onnx needs --out FILE (it is binary)");
  const content = exportModel(readModel(file), { ...flags, ...(table !== undefined && { table }) });
  if (out === undefined) io.stdout.write(content as string);
  else {
    await writeResultFile(out, content);
    io.stdout.write(`wrote ${out}\n`);
  }
}
