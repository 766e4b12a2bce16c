// The flags of all commands together: few enough to know, and each with one meaning wherever it stands.

import type { Command } from "commander";
import { expect, test } from "vitest";
import { program } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

interface Use {
  readonly command: string;
  readonly description: string;
  /** Whether a value follows. */
  readonly takesValue: boolean;
}

async function flagUses(): Promise<Map<string, Use[]>> {
  const uses = new Map<string, Use[]>();
  const visit = (command: Command, path: string) => {
    for (const { long, description, required, optional } of command.options) {
      const use = { command: path, description, takesValue: required || optional };
      if (long != null) uses.set(long, [...(uses.get(long) ?? []), use]);
    }
    for (const inner of command.commands) visit(inner, `${path} ${inner.name()}`);
  };
  visit(await program(fakeConsole(), "all"), "fedkm");
  return uses;
}

/** What every description of a flag has in common, where commands describe it in different words. */
const meanings: Readonly<Record<string, RegExp>> = {
  "--accept": /^(agree|take part)/,
  "--alpha": /^how strongly neighbours pull/,
  "--classes": /the known class of every row/,
  "--columns": /these columns.* only, with commas between/,
  "--dashboard": /^serve a page that shows the device/,
  "--data": /file/,
  "--device": /^whose centroids/,
  "--device-column": /the column that names each row's device/,
  "--devices": /how many devices/,
  "--epsilon": /differential-privacy budget/,
  "--graph": /complete, ring, .*er:P, knn:K, or a file of links/,
  "--init": /^where devices start|^where every method starts/,
  "--json": /one JSON object/,
  "--k": /clusters/,
  "--labels-as": /^labelled files as csv/,
  "--method": /methods?/,
  "--min-rows": /^the fewest rows that anything sent may stand for/,
  "--missing": /^missing cells/,
  "--name": /called|call it/,
  "--out": /^where /,
  "--passphrase-file": /in the first line of this file/,
  "--plugin": /from a module in JavaScript, TypeScript or Python/,
  "--privacy": /guarded/,
  "--runs": /^how many/,
  "--sample": /so many rows/,
  "--scale": /none, standard/,
  "--state": /^the folder of/,
  "--typical-rows": /how many rows a device has/,
  "--study": /the study of|of this study/,
  "--threads": /the same bits with any number of them/,
  "--weighting": /^weight devices or rows equally/,
};

test("there are at most 85 flags over all commands", async () => {
  const flags = [...(await flagUses()).keys()].sort();
  expect(flags.length, flags.join(" ")).toBeLessThanOrEqual(85);
});

test("a flag has one meaning, and takes a value everywhere or nowhere", async () => {
  for (const [flag, uses] of await flagUses()) {
    expect(new Set(uses.map(({ takesValue }) => takesValue)).size, flag).toBe(1);
    if (new Set(uses.map(({ description }) => description)).size === 1) continue;
    const meaning = meanings[flag];
    expect(meaning, `${flag} has ${uses.length} descriptions and no meaning in common`).toBeDefined();
    for (const { command, description } of uses) expect(description, `${command} ${flag}`).toMatch(meaning);
  }
});
