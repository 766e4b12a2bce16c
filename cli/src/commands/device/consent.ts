// fedkm device consent: a guarded device begins a new history, or a private one makes a new release, and says what it means.

import { budgetOf, keepsHistory } from "@fedkm/device";
import { consentInFolder, readFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";

export async function consent(state: string, { stdout }: Console): Promise<void> {
  const { name, study } = await readFolder(state);
  if (!keepsHistory(study)) {
    throw new UsageError(`the study must be guarded or private, got ${study.privacy}: there is nothing to forget`);
  }
  const isRunning = await consentInFolder(state, new Date());
  const when = isRunning ? "within a few seconds" : "when it is run";
  if (study.privacy === "private") {
    const { epsilon, lifetime } = budgetOf(study);
    const price = `that costs epsilon ${epsilon} more, of ${lifetime} in all`;
    const what =
      study.clusters === "shared" ? "may add the rows of its data to a new answer" : "releases the rows of its data";
    stdout.write(`${name} ${what} ${when}, as they are then; ${price}\n`);
    if (study.clusters === "shared")
      stdout.write("clusters are shared: a new answer comes when the owners of all devices have agreed in this way\n");
    stdout.write("if its ledger was lost, it counts from 0 again, and what was spent before comes on top\n");
    return;
  }
  stdout.write(
    `${name} forgets what it has published ${when}, ` +
      "and begins again with the rows of its data as they are then\n" +
      "whoever kept what was sent before can compare it with what is sent from then on, " +
      "and may learn single rows from the difference\n",
  );
}
