// fedkm device pause, resume, reset and consent: what a device does from now on, running or not.

import { budgetOf, keepsHistory, mayRun, stageWords, studyStages } from "@fedkm/device";
import {
  BOOKS_FILE,
  consentInFolder,
  isLocked,
  pauseDevice,
  readFolder,
  resetDevice,
  writeSettings,
} from "@fedkm/device/daemon";
import { parseChoice } from "../../arguments.ts";
import { type Console, warnOn } from "../../console.ts";
import { UsageError } from "../../failure.ts";

export async function runDevicePauseCommand(state: string, isPaused: boolean, io: Console): Promise<void> {
  const folder = await readFolder(state);
  const isRunning = await pauseDevice(folder, isPaused, warnOn(io));
  io.stdout.write(`${folder.name} ${isPaused ? "is paused" : "goes on"} ${whenOf(isRunning)}\n`);
}

export async function runDeviceResetCommand(state: string, io: Console): Promise<void> {
  const folder = await readFolder(state);
  const { setAside, isRunning } = await resetDevice(folder, warnOn(io));
  const copy = setAside === undefined ? "it had no state yet" : `its state until now is in ${setAside}`;
  const network = isRunning ? ", and the whole network with it" : "";
  io.stdout.write(`${folder.name} begins again from its own rows ${whenOf(isRunning)}${network}; ${copy}\n`);
}

export async function runDeviceConsentCommand(state: string, { stdout }: Console): Promise<void> {
  const { name, study } = await readFolder(state);
  if (!keepsHistory(study)) {
    throw new UsageError(`the study must be guarded or private, got ${study.privacy}: there is nothing to forget`);
  }
  const when = whenOf(await consentInFolder(state, new Date()));
  if (study.privacy !== "private") {
    const others = study.minimum - 1;
    stdout.write(
      `rows that are deleted from the data of ${name} stop counting ${when}; of each group up to ${others} others stop too, and count again with new ones\n` +
        "if its history is lost, it begins anew: whoever has saved what was sent before may learn single rows from the difference\n",
    );
    return;
  }
  const { epsilon, lifetime } = budgetOf(study);
  const whose = { rows: "each row", persons: "each person", devices: "this device as a whole" };
  const price = `that costs ${whose[study.protects ?? "rows"]} epsilon ${epsilon} more, of ${lifetime} in all`;
  const isShared = study.clusters === "shared";
  const what = isShared ? "may add the rows of its data to a new answer" : "releases the rows of its data";
  stdout.write(`${name} ${what} ${when}, as they are then; ${price}\n`);
  if (isShared)
    stdout.write("clusters are shared: a new answer comes when the owners of all devices have agreed in this way\n");
  stdout.write("if its ledger was lost, it counts from 0 again, and what was spent before comes on top\n");
}

/** `what`: a stage that the device takes part in from now on, or books. */
export async function runDeviceStageCommand(state: string, what: string, io: Console): Promise<void> {
  if (what === "books") return runDeviceBooksCommand(state, io);
  const stage = parseChoice("consent", studyStages)(what);
  const folder = await readFolder(state);
  const { limits = {}, name } = folder;
  const consent = studyStages.filter((own) => own === stage || mayRun(limits, own));
  await writeSettings(state, { ...folder, limits: { ...limits, consent } });
  io.stdout.write(
    `${name} takes part in ${consent.join(", ")} ${whenOf(await isLocked(state))}: ${stageWords[stage]}\n`,
  );
}

/** Two owners or more ask for the books of an answer, one of whom is honest. */
async function runDeviceBooksCommand(state: string, { stdout }: Console): Promise<void> {
  const { name, study } = await readFolder(state);
  const { clusters, sums, privacy, colluders = 1 } = study;
  if (clusters !== "shared" || sums === "tree" || privacy === "private")
    throw new UsageError(
      "books are of open or guarded studies with shared clusters and sums on a board: there are none",
    );
  const when = whenOf(await consentInFolder(state, new Date(), BOOKS_FILE));
  stdout.write(
    `${name} asks ${when} what devices added to the answer; books open when the owners of ${colluders + 1} devices ask\n` +
      "then all devices see how many rows this one has in each cluster, and their means; fedkm device status shows what comes of it\n",
  );
}

function whenOf(isRunning: boolean): string {
  return isRunning ? "within a few seconds" : "when it is run";
}
