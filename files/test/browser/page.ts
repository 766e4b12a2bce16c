// Runs in a page: reads files that came as text, with nothing but what the page has.

import { type ReadOptions, readTable } from "../../src/index.ts";
import { type Outcome, outcome } from "../outcome.ts";

export interface SentFile {
  readonly name: string;
  readonly base64: string;
  readonly options: ReadOptions;
}

export async function outcomes(files: readonly SentFile[]): Promise<Outcome[]> {
  const found: Outcome[] = [];
  for (const { name, base64, options } of files) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    found.push(await outcome(readTable(new File([bytes], name), options)));
  }
  return found;
}
