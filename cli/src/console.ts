// What the program may use of the process it runs in, so that a test can stand in for it.

import { styleText } from "node:util";

export interface Output {
  /** `done` learns whether it was written. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean | undefined;
  /** Bytes that wait to be written. */
  readonly writableLength?: number;
}

export interface Console {
  /** Absent where nobody can be asked. */
  readonly stdin?: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Says on the error output what a command's work warns of. */
export function warnOn({ stderr }: Pick<Console, "stderr">): (warning: string) => void {
  return (warning) => void stderr.write(`fedkm: warning: ${warning}\n`);
}

/** What a person answers in a terminal; undefined: nobody can be asked. */
export async function askPerson({ stdin, stdout }: Console, question: string): Promise<string | undefined> {
  if (stdin?.isTTY !== true || stdout.isTTY !== true) return undefined;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: stdin, output: process.stdout });
  const answer = await lines.question(question);
  lines.close();
  return answer;
}

/** An answer for a program as one JSON object, or in lines for a person. */
export function printAnswer(
  { stdout }: Console,
  json: boolean | undefined,
  facts: object,
  lines: () => string[],
): void {
  stdout.write(`${json ? JSON.stringify(facts, undefined, 2) : lines().join("\n")}\n`);
}

/** What makes a text bold where that helps, on this output and not on the process's own: a terminal whose owner did not refuse it (no-color.org). */
export function boldOn(output: Output, env: Console["env"]): (text: string) => string {
  const isStyled = output.isTTY === true && !env.NO_COLOR;
  return (text) => (isStyled ? styleText("bold", text, { validateStream: false }) : text);
}
