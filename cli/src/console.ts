// What the program may use of the process it runs in, so that a test can stand in for it.

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

export interface Console {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Whether bold and colour help on this output: a terminal whose owner did not refuse them (no-color.org). */
export function isStyled(output: Output, env: Console["env"]): boolean {
  return output.isTTY === true && !env.NO_COLOR;
}
