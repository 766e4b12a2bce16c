// Categories and scales from files to a model and back: one category counts like one column, and predict labels as fit did.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { applyScaling, encodeTable, readTable } from "@fedkm/files";
import { encodingOfModel, type Model } from "@fedkm/tables";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const trees = join(folder.path, "examples/trees.csv");
const lines = readFileSync(trees, "utf8").trim().split("\n");
const north = folder.file("north.csv", `${[lines[0], ...lines.slice(1, 70)].join("\n")}\n`);
const south = folder.file("south.csv", `${[lines[0], ...lines.slice(70)].join("\n")}\n`);

async function fitted(...options: string[]): Promise<{ model: Model; file: string; stdout: string }> {
  const out = join(folder.path, "out");
  const { code, stdout, stderr } = await outcome("fit", "--as-is", north, south, "--k", "2", ...options, "--out", out);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { model: JSON.parse(readFileSync(join(out, "model.json"), "utf8")), file: join(out, "model.json"), stdout };
}

/** The total variance of each column of the files on the model's scale, over all rows. */
async function variances(model: Model): Promise<number[]> {
  const encoding = encodingOfModel(model);
  const categories = encoding.filter(({ values }) => values !== undefined).map(({ name }) => name);
  const columns = encoding.map(({ name }) => name);
  const table = encodeTable(await readTable(trees, { columns, categories }), encoding);
  applyScaling(table.points, model.scaling);
  const { data, rows, cols } = table.points;
  const own = Array.from({ length: cols }, (_, c) => {
    const values = Array.from({ length: rows }, (__, r) => data[r * cols + c]);
    const mean = values.reduce((sum, x) => sum + x, 0) / rows;
    return values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / rows;
  });
  let first = 0;
  return (model.encoding ?? []).map(({ values }) => {
    const width = values?.length ?? 1;
    first += width;
    return own.slice(first - width, first).reduce((sum, x) => sum + x, 0);
  });
}

test.each(["standard", "rank", "log:height_m,ring_mm"])(
  "with --scale %s every column has variance 1",
  async (scale) => {
    const { model } = await fitted("--categories", "auto", "--scale", scale);
    expect(model.version).toBe(2);
    for (const variance of await variances(model)) expect(variance).toBeCloseTo(1, 9);
  },
);

test("with --scale minmax two different values are 1 apart, as are the ends of a number", async () => {
  const { model } = await fitted("--categories", "auto", "--scale", "minmax");
  const { scale } = model.scaling;
  expect(new Set(scale.slice(2))).toEqual(new Set([Math.SQRT2]));
  const heights = lines.slice(1).map((line) => Number(line.split(",")[0]));
  expect(scale[0]).toBe(Math.max(...heights) - Math.min(...heights));
});

test("with --scale none a category varies like the average number", async () => {
  const { model } = await fitted("--categories", "wood,soil");
  const [height, ring, wood, soil] = await variances(model);
  expect(wood).toBeCloseTo((height + ring) / 2, 9);
  expect(soil).toBeCloseTo(wood, 9);
});

test("with --scale robust the quartiles of a number are those of a normal column", async () => {
  const { model } = await fitted("--exclude", "wood,soil", "--scale", "robust");
  expect(model.version).toBe(1);
  const rings = lines.slice(1).map((line) => Number(line.split(",")[1]));
  rings.sort((a, b) => a - b);
  expect(model.scaling.offset[1]).toBeCloseTo(rings[59], 9);
  expect(model.scaling.scale[1]).toBeCloseTo((rings[89] - rings[29]) / 1.3489795, 6);
});

test.each(["none", "standard", "robust", "minmax", "rank", "log:ring_mm"])(
  "with --scale %s a model is verified, and predict gives the labels of fit",
  async (scale) => {
    const { file, stdout } = await fitted("--categories", "auto", "--scale", scale);
    expect(stdout).toMatch(/(oak|pine) \d+ %/);
    expect((await outcome("verify", file, north, south)).stdout).toContain("is verified");
    const labelled = readFileSync(join(folder.path, "out/labels/north.csv"), "utf8");
    expect((await outcome("predict", "--model", file, north)).stdout).toBe(labelled);
  },
);

test("a value that the model does not know is refused, or treated as missing", async () => {
  const strange = folder.file("strange.csv", `${lines[0]}\n20,3,palm,loam\n20,3,oak,loam\n`);
  const refused = await fitted("--categories", "auto", "--scale", "standard");
  const label = (file: string) => outcome("predict", "--model", file, "--device", "north", strange);
  expect((await label(refused.file)).stderr).toMatch(
    /strange.csv, line 2, column "wood" must be one of "ash", "larch", "oak", "pine", got "palm"; fix the cell/,
  );
  const dropped = await fitted("--categories", "auto", "--scale", "standard", "--missing", "drop");
  expect((await label(dropped.file)).stdout).toMatch(/palm,loam,\n20,3,oak,loam,[01]\n$/);
  const filled = await fitted("--categories", "auto", "--scale", "standard", "--missing", "mean");
  expect((await label(filled.file)).stdout).toMatch(/palm,loam,[01]\n20,3,oak,loam,[01]\n$/);
});

test("what cannot be a category or a logarithm is refused with what helps", async () => {
  const plants = join(folder.path, "examples/north.csv");
  const refusal = async (...args: string[]) => (await outcome("fit", "--as-is", ...args, "--k", "2")).stderr;
  expect(await refusal(plants, "--categories", "auto")).toMatch(
    /column "plant" must repeat its values to be a category, got 120 different values in 120 rows; leave it out with --exclude plant, or take/,
  );
  expect(await refusal(trees, "--categories", "bark")).toMatch(/column "bark" must exist, .* with --categories/);
  expect(await refusal(trees, "--categories", "auto", "--scale", "log:wood")).toMatch(
    /--scale log:COLUMNS must name columns of numbers, got "wood"/,
  );
  const zero = folder.file("zero.csv", "a,b\n0,1\n1,2\n3,4\n");
  expect(await refusal(zero, "--scale", "log:a")).toMatch(/values are above 0, got 0 in "a": --scale rank takes any/);
});

test("a model with a changed encoding is refused", async () => {
  const { model } = await fitted("--categories", "auto", "--scale", "rank");
  const refusal = async (change: object) => {
    const file = folder.file("edited.json", JSON.stringify({ ...model, ...change }));
    return (await outcome("predict", "--model", file, north)).stderr;
  };
  expect(await refusal({ encoding: [{ name: "wood", values: [1] }] })).toMatch(/names and values as encoding/);
  expect(await refusal({ encoding: [{ name: "height_m" }] })).toMatch(
    /what gives the columns height_m, .* as encoding/,
  );
  expect(await refusal({ scaling: { ...model.scaling, transforms: [null] } })).toMatch(/as scaling.transforms/);
});
