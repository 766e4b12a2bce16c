// fedkm device consent: a guarded device begins a new history of what it publishes, and says what that means.

import { consentInFolder, readFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";

export async function consent(state: string, { stdout }: Console): Promise<void> {
  const { name, study } = await readFolder(state);
  if (study.privacy !== "guarded") {
    throw new UsageError(`the study must be guarded, got ${study.privacy}: there is nothing to forget`);
  }
  const isRunning = await consentInFolder(state, new Date());
  stdout.write(
    `${name} forgets what it has published ${isRunning ? "within a few seconds" : "when it is run"}, ` +
      "and begins again with the rows of its data as they are then\n" +
      "whoever kept what was sent before can compare it with what is sent from then on, " +
      "and may learn single rows from the difference\n",
  );
}
