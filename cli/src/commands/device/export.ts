// fedkm device export: the clusters a device has now, as a model file.

import type { Console } from "../../console.ts";
import { modelOfFolder } from "../../devices/model.ts";
import { writeWhole } from "../../write.ts";

export async function exportModel({ state, out }: { state: string; out: string }, { stdout }: Console): Promise<void> {
  const model = await modelOfFolder(state);
  const [{ name, centroids }] = model.devices;
  await writeWhole(out, `${JSON.stringify(model, undefined, 2)}\n`);
  stdout.write(`wrote ${out}: ${centroids.length} clusters of ${name}\n`);
}
