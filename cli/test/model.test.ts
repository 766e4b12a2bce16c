// A model written once is read for ever: the committed one still labels as it did, and as scikit-learn does with it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const model = path("fixtures/model.json");
const folder = temporaryFolder();

test("a model of an earlier day gives the labels that scikit-learn gives with it", async () => {
  const { code, stdout } = await outcome("predict", "--model", model, path("../../examples/north.csv"), "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout).labels).toEqual(JSON.parse(readFileSync(path("fixtures/sklearn-labels.json"), "utf8")));
});

test("docs/model.md names every field of a model, and no other", async () => {
  const page = readFileSync(path("../../docs/model.md"), "utf8");
  const named = Array.from(page.matchAll(/^\| `([\w.[\]]+)`/gm), ([, field]) => field);
  const files = ["north", "south"].map((name) => path(`../../examples/${name}.csv`));
  const every =
    "--preset paper --init local --schedule cyclic --rounds 9 --coupling nearest --weighting device --penalty norm --tol 0 --names a,b,c";
  const asked = ["--k", "3", "--exclude", "plant", "--missing", "mean", ...every.split(" ")];
  await outcome("fit", "--as-is", ...files, ...asked, "--names", "a,b,c", "--out", folder.path);
  const written = () => fields(JSON.parse(readFileSync(join(folder.path, "model.json"), "utf8")));
  const plain = written();
  const trees = folder.file(
    "trees.csv",
    `wood,height,cut\n${"ash,3,2026-01-02\noak,5,2026-03-04\nash,4,2026-05-06\n".repeat(9)}`,
  );
  const dated = ["--categories", "wood", "--dates", "days", "--scale", "rank"];
  await outcome("fit", "--as-is", trees, "--k", "2", ...dated, "--out", folder.path);
  const encoded = written();
  const source = ["fit", "--as-is", `duckdb:${files[0]}`, "--read", "stream"];
  await outcome(...source, "--k", "2", "--exclude", "plant", "--out", folder.path);
  const all = new Set([...plain, ...encoded, ...written()].map((field) => field.replace(/^reading\..*/, "reading")));
  // Lists without entries: the links of one device, and the labels of a source.
  for (const empty of ["links", "labels"]) all.delete(empty);
  expect(named.sort()).toEqual([...all].sort());
});

test("docs/model.md shows the six lines that made the labels", () => {
  const [, shown] = /^```python\n([\s\S]*?)^```/m.exec(readFileSync(path("../../docs/model.md"), "utf8")) ?? [];
  const script = readFileSync(path("fixtures/make-labels.py"), "utf8");
  const lines = shown
    .trim()
    .split("\n")
    .filter((line) => !/^(import |from |$)/.test(line));
  expect(lines).toHaveLength(6);
  const inScript = (line: string) =>
    line
      .replaceAll('"model.json"', "sys.argv[1]")
      .replaceAll('"north"', "sys.argv[2]")
      .replaceAll('"north.csv"', "sys.argv[3]");
  for (const line of lines) expect(script).toContain(inScript(line));
});

/** Dotted names of everything in a value; lists stand for their first entry. */
function fields(value: unknown, prefix = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = prefix + key;
    const entry: unknown = Array.isArray(inner) ? inner[0] : inner;
    const isRecord = typeof entry === "object" && entry !== null && !Array.isArray(entry);
    return isRecord ? fields(entry, `${name}${Array.isArray(inner) ? "[]" : ""}.`) : [name];
  });
}
