// Unprepared exports: what is proposed for each always runs, is what somebody who knows the data would ask, and is
// remembered by the model, so that predict gives the same labels without a word about how to read the files.

import { expect, test } from "vitest";
import { encodingOfModel, fitTables, labelsInOrder, parseModel, predictTables, proposeForFiles } from "../src/index.ts";
import { type Export, exports } from "./exports.ts";
import { heldOutExports, tunedExports } from "./freshExports.ts";

interface Tried {
  readonly kind: string;
  readonly error?: string;
  readonly differs: readonly string[];
}

async function tryProposal({ kind, files, columns, categories = [], device, devices, scale }: Export): Promise<Tried> {
  try {
    const { options, first } = await proposeForFiles(files, {});
    if (first.length > 0) return { kind, error: JSON.stringify(first), differs: [] };
    const outcome = await fitTables({ files, ...options, k: 3, examine: false });
    const { model } = outcome;
    const again = await predictTables({ model: parseModel(JSON.stringify(model)), files });
    const labelsOf = labelsInOrder(outcome, false);
    outcome.input.files.forEach((own, f) => {
      const { labelOf } = labelsOf(own);
      const labels = Array.from({ length: own.rows }, (_, row) => labelOf(row) ?? -1);
      expect(Array.from(again[f].labels), `${kind}: predict without options`).toEqual(labels);
    });
    const encoding = encodingOfModel(model);
    const found = {
      columns: encoding.map(({ name }) => name),
      categories: encoding.filter(({ values }) => values !== undefined).map(({ name }) => name),
      device: options.deviceColumn,
      devices: devices && model.devices.map(({ name }) => name),
      scale: options.scale?.split(":")[0],
    };
    const wanted = { columns, categories, device, devices, scale };
    const differs = (Object.keys(wanted) as (keyof typeof wanted)[])
      .filter((name) => JSON.stringify(found[name]) !== JSON.stringify(wanted[name]))
      .map((name) => `${name}: ${JSON.stringify(found[name])} instead of ${JSON.stringify(wanted[name])}`);
    return { kind, differs };
  } catch (error) {
    return { kind, error: String(error), differs: [] };
  }
}

/** All run; of those that are not as expected the kinds and why. */
async function tryAll(all: readonly Export[]) {
  const tried: Tried[] = [];
  for (const own of all) tried.push(await tryProposal(own));
  expect(tried.flatMap(({ kind, error }) => (error === undefined ? [] : [`${kind}: ${error}`]))).toEqual([]);
  return tried.filter(({ differs }) => differs.length > 0).map(({ kind, differs }) => `${kind}: ${differs.join("; ")}`);
}

test("60 of 60 proposals for unprepared exports run, and at least 54 are as expected", async () => {
  expect(exports.length).toBe(60);
  const others = await tryAll(exports);
  expect(others.length, others.join("\n")).toBeLessThan(7);
});

test("so do 39 for further kinds", async () => {
  expect(tunedExports.length).toBe(39);
  const others = await tryAll(tunedExports);
  expect(others.length, others.join("\n")).toBeLessThan(4);
});

test("and 21 for kinds that nothing was changed for, of which 18 are as expected", async () => {
  expect(heldOutExports.length).toBe(21);
  const others = await tryAll(heldOutExports);
  expect(others.length, others.join("\n")).toBeLessThan(4);
});

test("of a large file the first rows say what it holds, and gaps further down do not stop it", async () => {
  const lines = Array.from(
    { length: 60_000 },
    (_, r) => `${r % 2 === 0 ? "" : "-"}${(r * 7) % 100},${r === 55_000 ? "" : (r * 31) % 17}`,
  );
  const file = new File([`a,b\n${lines.join("\n")}\n`], "large.csv");
  const { options } = await proposeForFiles([file], {});
  expect(options).toEqual({ scale: "standard", missing: "drop" });
  const { input } = await fitTables({ files: [file], ...options, k: 2, examine: false });
  expect(input.dropped).toBe(1);
});

test("a far value that repeats is taken for missing only where it looks like a code, and a target may be measured", async () => {
  const lines = Array.from({ length: 400 }, (_, r) => {
    const [rad, depth] = [r % 4 === 0 ? 24 : 1 + (r % 8), r % 9 === 0 ? -999 : 20 + ((r * 7) % 13)];
    return `${rad},${depth},${(r * 31) % 57},${(((r * 17) % 211) / 3).toFixed(2)}`;
  });
  const file = new File([`rad,depth,x,target\n${lines.join("\n")}\n`], "piles.csv");
  const { options, columns } = await proposeForFiles([file], {});
  expect(options).toEqual({ exclude: ["target"], na: ["-999"], missing: "drop", scale: "standard" });
  expect(columns.find(({ name }) => name === "target")?.role).toBe("target");
});
