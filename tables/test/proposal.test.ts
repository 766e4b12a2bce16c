// Unprepared exports: what is proposed for each always runs, and is what somebody who knows the data would ask.

import { expect, test } from "vitest";
import { encodingOfModel, fitTables, proposeForFiles } from "../src/index.ts";
import { type Export, exports } from "./exports.ts";

interface Tried {
  readonly kind: string;
  readonly error?: string;
  readonly differs: readonly string[];
}

async function tryProposal({ kind, file, columns, categories = [], device, scale }: Export): Promise<Tried> {
  try {
    const { options, first } = await proposeForFiles([file], {});
    if (first.length > 0) return { kind, error: JSON.stringify(first), differs: [] };
    const { model } = await fitTables({ files: [file], ...options, k: 3, examine: false });
    const encoding = encodingOfModel(model);
    const found = {
      columns: encoding.map(({ name }) => name),
      categories: encoding.filter(({ values }) => values !== undefined).map(({ name }) => name),
      device: options.deviceColumn,
      scale: options.scale?.split(":")[0],
    };
    const wanted = { columns, categories, device, scale };
    const differs = (Object.keys(wanted) as (keyof typeof wanted)[])
      .filter((name) => JSON.stringify(found[name]) !== JSON.stringify(wanted[name]))
      .map((name) => `${name}: ${JSON.stringify(found[name])} instead of ${JSON.stringify(wanted[name])}`);
    return { kind, differs };
  } catch (error) {
    return { kind, error: String(error), differs: [] };
  }
}

test("60 of 60 proposals for unprepared exports run, and at least 54 are as expected", async () => {
  expect(exports.length).toBe(60);
  const tried: Tried[] = [];
  for (const own of exports) tried.push(await tryProposal(own));
  expect(tried.flatMap(({ kind, error }) => (error === undefined ? [] : [`${kind}: ${error}`]))).toEqual([]);
  const others = tried.filter(({ differs }) => differs.length > 0);
  expect(others.length, others.map(({ kind, differs }) => `${kind}: ${differs.join("; ")}`).join("\n")).toBeLessThan(7);
});
