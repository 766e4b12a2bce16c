// fedkm pipe: requests as frames on standard input, each answered on standard output before the next is read.

import { once } from "node:events";
import { decodePipeFrames, encodePipeFrame, type Frame } from "@fedkm/files/frames";
import { answerFrame, requestOptionNames } from "@fedkm/tables";
import type { Console } from "../../console.ts";
import { messageLine, UsageError } from "../../failure.ts";
import { methodOfFlag } from "../../input/reading.ts";
import { version } from "../../package.ts";

/** A change after which older programs would misread an answer gets another number. */
const PIPE_VERSION = 1;

export async function runPipeCommand({ stdin }: Console): Promise<void> {
  if (stdin === undefined || stdin.isTTY)
    throw new UsageError("pipe must be started by a program that writes frames, got a terminal");
  await send({ header: { fedkm: version(), pipe: PIPE_VERSION }, arrays: [] });
  for await (const request of decodePipeFrames(stdin)) await send(await answered(request));
}

/** A request that cannot be meant is answered by a sentence, and the next one is read. */
async function answered(request: Frame): Promise<Frame> {
  try {
    return await answerFrame(request, methodOfFlag);
  } catch (error) {
    // Programs have parameters where the command line has flags.
    const refusal = requestOptionNames(messageLine(error).replace(/^fedkm: /, ""), (words) => words.join("_"));
    return { header: { refusal }, arrays: [] };
  }
}

async function send({ header, arrays }: Frame): Promise<void> {
  for (const piece of encodePipeFrame(header, arrays)) {
    if (!process.stdout.write(piece)) await once(process.stdout, "drain");
  }
}
