// The docs are true: every TypeScript snippet is type-checked and run, its output compared; every command names a script
// that exists; every relative link and anchor leads somewhere; the pictures are what the commands draw.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
const published: string[] = manifest(".").workspaces.filter((workspace: string) => !manifest(workspace).private);
const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...published.map((workspace) => `${workspace}/README.md`),
  ...readdirSync(join(root, "docs"))
    .filter(isPage)
    .map((file) => `docs/${file}`),
];
// Inside the repository, so that imports resolve as they do for a user of the package.
const folder = join(root, "node_modules", ".cache", "snippets");

function isPage(file: string): boolean {
  return file.endsWith(".md");
}

interface Snippet {
  page: string;
  line: number;
  language: string;
  text: string;
  /** The text block that follows at once, which is what the snippet prints. */
  output: string | undefined;
}

function snippets(page: string): Snippet[] {
  const text = readFileSync(join(root, page), "utf8");
  return Array.from(text.matchAll(/^```(\w+)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm), (match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    language: match[1],
    text: match[2],
    output: match[3],
  }));
}

const every = pages.flatMap(snippets);
const programs = every.filter(({ language }) => language === "ts");
const fileOf = ({ page, line }: Snippet) => join(folder, `${page.replaceAll("/", "-")}-${line}.ts`);

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")],
  noEmitOnError: false,
};

function run(source: string): string {
  const compiled = ts.transpileModule(source, {
    compilerOptions: { ...compilerOptions, module: ts.ModuleKind.ESNext },
  });
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module"], {
    input: compiled.outputText,
    cwd: root,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

describe("snippets", () => {
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    for (const snippet of programs) writeFileSync(fileOf(snippet), snippet.text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are there", () => {
    expect(programs.length).toBeGreaterThan(8);
  });

  it("have correct types", () => {
    const program = ts.createProgram(programs.map(fileOf), { ...compilerOptions, noEmit: true });
    const errors = ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
    expect(errors).toEqual([]);
  });

  for (const { page, line, text, output } of programs) {
    it(`${page}:${line} prints what the page says`, () => {
      expect(output, "a snippet is followed by its output").toBeDefined();
      expect(run(text)).toBe(output);
    });
  }

  it("examples/quickstart.ts runs, and is the README's example with more words", () => {
    const printed = run(readFileSync(join(root, "examples/quickstart.ts"), "utf8"));
    expect(printed).toContain("27 rounds, 96 messages, 4224 bytes, no record sent");
  });
});

describe.each(published)("the package of %s", (workspace) => {
  const text = (file: string) => readFileSync(join(root, workspace, file), "utf8");

  it("has the license, and a page with its name, how to install it and an example", () => {
    expect(text("LICENSE")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
    const { name } = manifest(workspace);
    expect(text("README.md").split("\n")[0]).toBe(`# ${name}`);
    expect(text("README.md")).toContain(`\n    npm install ${name}\n`);
    expect(snippets(`${workspace}/README.md`).filter(({ output }) => output !== undefined)).toHaveLength(1);
  });
});

describe("commands", () => {
  const { scripts } = manifest(".");
  const text = pages.map((page) => readFileSync(join(root, page), "utf8")).join("\n");

  it("name scripts that exist", () => {
    const named = Array.from(text.matchAll(/(?:`|&& |^)npm (?:run )?(\w+)/gm), ([, name]) => name).filter(
      // npm's own.
      (name) => !["ci", "install", "init", "pack"].includes(name),
    );
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect(scripts, `npm run ${name}`).toHaveProperty(name);
  });

  it("are the README's two", () => {
    const readme = snippets("README.md").filter(({ language }) => language === "sh");
    expect(readme.map((snippet) => snippet.text)).toEqual(["npm install && npm start\n", "npm install && npm test\n"]);
  });

  it("name files that exist", () => {
    for (const [file] of text.matchAll(
      /\b(?:python|core|files|pictures|device|web|experiments|cli|bench|test|examples)\/[\w./-]+\.(?:ts|py|json)\b/g,
    )) {
      expect(existsSync(join(root, file)), file).toBe(true);
    }
  });
});

describe("links", () => {
  const anchors = (page: string) =>
    Array.from(readFileSync(join(root, page), "utf8").matchAll(/^#+ (.*)$/gm), ([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, "")
        .trim()
        .replaceAll(" ", "-"),
    );

  for (const page of pages) {
    it(`${page} leads to files and headings that exist`, () => {
      const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```/gm, "");
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [path, anchor] = target.split("#");
        const file = path === "" ? page : join(dirname(page), path);
        expect(existsSync(join(root, file)), `${page} links to ${target}`).toBe(true);
        if (anchor !== undefined) expect(anchors(file), `${page} links to ${target}`).toContain(anchor);
      }
    });
  }

  it("source comments lead to headings that exist", () => {
    for (const [, page, anchor] of readFileSync(join(root, "core/src/update.ts"), "utf8").matchAll(
      /(docs\/\w+\.md)#([\w-]+)/g,
    )) {
      expect(anchors(page)).toContain(anchor);
    }
  });
});

describe("pictures", () => {
  it("docs/together.svg and docs/methods/ are what npm run pictures draws, small, and one for every method", () => {
    const out = mkdtempSync(join(tmpdir(), "fedkm-docs-"));
    try {
      const script = join(root, "bench/dist/pictures.js");
      const { status, stderr } = spawnSync(process.execPath, [script, "--out", out], { encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(readdirSync(out).sort()).toEqual(["methods", "together.svg"]);
      const together = readFileSync(join(out, "together.svg"), "utf8");
      expect(together).toBe(readFileSync(join(root, "docs/together.svg"), "utf8"));
      expect(together.length).toBeLessThan(30_000);
      const names = readdirSync(join(out, "methods")).sort();
      expect(readdirSync(join(root, "docs/methods")).sort()).toEqual(names);
      for (const name of names) {
        const drawn = readFileSync(join(out, "methods", name), "utf8");
        expect(drawn.length, name).toBeLessThan(30_000);
        expect(drawn, name).toBe(readFileSync(join(root, "docs/methods", name), "utf8"));
      }
      const text = readFileSync(join(root, "docs/methods.md"), "utf8");
      expect(Array.from(text.matchAll(/\(methods\/(\w+\.svg)\)/g), ([, name]) => name).sort()).toEqual(names);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
});
