// fedkm device pause, resume, reset and consent: what can be asked about how a device goes on.

import { Command, type Option } from "commander";
import type { Console } from "../../console.ts";

interface StateOptions {
  readonly state: string;
}

export function pauseCommand(io: Console, stateOption: () => Option): Command {
  return new Command("pause")
    .description("Let the device make no update and send nothing new, running or not. It stays linked.")
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device pause --state north")
    .action(async ({ state }: StateOptions) => {
      const { pause } = await import("./pause.ts");
      await pause(state, true, io);
    });
}

export function resumeCommand(io: Console, stateOption: () => Option): Command {
  return new Command("resume")
    .description("End the pause: the device goes on from where its neighbours are now.")
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device resume --state north")
    .action(async ({ state }: StateOptions) => {
      const { pause } = await import("./pause.ts");
      await pause(state, false, io);
    });
}

export function resetCommand(io: Console, stateOption: () => Option): Command {
  return new Command("reset")
    .description("Make the device begin again from its own rows, running or not. Its state is set aside, not lost.")
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device reset --state north")
    .action(async ({ state }: StateOptions) => {
      const { reset } = await import("./reset.ts");
      await reset(state, io);
    });
}

export function consentCommand(io: Console, stateOption: () => Option): Command {
  return new Command("consent")
    .description(
      "Let a guarded device forget what it has published: because that is lost, or because rows must be deleted at once.",
    )
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device consent --state north")
    .action(async ({ state }: StateOptions) => {
      const { consent } = await import("./consent.ts");
      await consent(state, io);
    });
}
