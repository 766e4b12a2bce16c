// The examples in the comments of core's public functions: each function has one, and what it says is what comes out.

import { pathToFileURL } from "node:url";
import ts from "typescript";
import { describe, expect, it, vi } from "vitest";
import { publicNames } from "../../test/gates.mjs";

const found = publicNames(["core"], "source");
const fileOf = new Map(found.map(({ path, file }) => [path, file]));

/** What an entry point has at run time. */
async function valuesOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  return await import(pathToFileURL(fileOf.get(path) ?? "").href);
}

/** Typed arrays are written as lists in a comment. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, plain(own)]));
}

/** An expression that ends in a line `// value` is held against that value. */
function withChecks(example: string): string {
  const source = ts.createSourceFile("example.ts", example, ts.ScriptTarget.Latest, true);
  const parts = source.statements.map((statement) => {
    const [said] = ts.getTrailingCommentRanges(example, statement.end) ?? [];
    if (said === undefined || !ts.isExpressionStatement(statement)) return statement.getText();
    return `check(${statement.expression.getText()}, (${example.slice(said.pos + "//".length, said.end)}));`;
  });
  return parts.join("\n");
}

/** With the names of its entry point, then of the whole package, as if they were imported. */
async function run(example: string, path: string): Promise<number> {
  const names = { ...(await valuesOf(".")), ...(await valuesOf(path)) };
  let checks = 0;
  const check = (got: unknown, said: unknown) => {
    checks++;
    expect(plain(got)).toStrictEqual(plain(said));
  };
  const code = `return async (check, { ${Object.keys(names).join(", ")} }) => {{\n${withChecks(example)}\n}};`;
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  await new Function(ts.transpile(code, options))()(check, names);
  return checks;
}

describe("the examples of core", () => {
  it("are there for every public function, in at most four lines", async () => {
    const lacking: string[] = [];
    for (const { path, name, examples } of found) {
      if (typeof (await valuesOf(path))[name] !== "function") continue;
      const isShort = examples.every((example) => example.trim().split("\n").length <= 4);
      if (examples.length === 0 || !isShort) lacking.push(`${name} of ${path}`);
    }
    expect(lacking).toEqual([]);
  });

  const examples = found.flatMap(({ path, name, examples: own }) => own.map((example) => ({ path, name, example })));

  it.each(examples)("runs as it stands: $name of $path", async ({ path, example }) => {
    vi.spyOn(console, "log").mockImplementation(() => {});
    const checks = await run(example, path);
    expect(checks).toBe(example.match(/\/\/ /g)?.length ?? 0);
  });
});
