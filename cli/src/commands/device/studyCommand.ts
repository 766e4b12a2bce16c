// fedkm device study: what can be asked about the study of a device, and how it is changed while the network runs.

import { Command, type Option } from "commander";
import type { Console } from "../../console.ts";

interface StateOptions {
  readonly state: string;
}

export function studyCommand(io: Console, stateOption: () => Option): Command {
  const part = (name: string, what: string) => new Command(name).description(what).addOption(stateOption());
  return new Command("study")
    .description("Show the study of the device, or change it together with its neighbours while all run.")
    .addCommand(
      part(
        "show",
        "Show the study, what neighbours speak and what they propose. This is what `device study` does.",
      ).action(async ({ state }: StateOptions) => {
        const { showStudy } = await import("./study.ts");
        await showStudy(state, io);
      }),
      { isDefault: true },
    )
    .addCommand(
      part("propose", "Accept a new study here, and propose it to the neighbours.")
        .argument("<file.yaml>", "the new study")
        .action(async (file: string, { state }: StateOptions) => {
          const { proposeStudy } = await import("./study.ts");
          await proposeStudy(file, state, io);
        }),
    )
    .addCommand(
      part("accept", "Accept a study that neighbours propose.")
        .argument("<hash>", "its hash, or how it begins")
        .action(async (hash: string, { state }: StateOptions) => {
          const { acceptStudy } = await import("./study.ts");
          await acceptStudy(hash, state, io);
        }),
    )
    .addCommand(
      part("withdraw", "Go back to the study before, as long as it has not ended.").action(
        async ({ state }: StateOptions) => {
          const { withdrawStudy } = await import("./study.ts");
          await withdrawStudy(state, io);
        },
      ),
    )
    .addCommand(
      part("finish", "End the study before now, whichever neighbour has not followed.").action(
        async ({ state }: StateOptions) => {
          const { finishStudy } = await import("./study.ts");
          await finishStudy(state, io);
        },
      ),
    )
    .addHelpText("after", "\nExample:\n  fedkm device study propose new.yaml --state north");
}
