// The docs are true: every TypeScript snippet is type-checked and run, its output compared; the commands of the start pages
// run and print what the pages show; every script, file, link and anchor exists; the pictures are what the commands draw.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
  ...["docs", "docs/start"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith(".md"))
      .map((file) => `${folder}/${file}`),
  ),
];
// Inside the repository, so that imports resolve as they do for a user of the package.
const folder = join(root, "node_modules", ".cache", "snippets");

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

describe.each(pages.filter((page) => page.startsWith("docs/start/")))("%s", (page) => {
  const commands = snippets(page).filter(({ language }) => language === "bash");

  it("leads to a result: its commands run one after the other and print the lines that it shows", () => {
    const folder = mkdtempSync(join(tmpdir(), "fedkm-start-"));
    symlinkSync(join(root, "examples"), join(folder, "examples"));
    // Plug-ins import packages of this repository.
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const program = `"${process.execPath}" "${join(root, "cli/bin/fedkm.js")}"`;
    expect(commands.length).toBeGreaterThan(1);
    try {
      for (const { text, output = "" } of commands) {
        const script = text.replaceAll("npx fedkm", program);
        const { status, stdout, stderr } = spawnSync("bash", ["-euc", script], { cwd: folder, encoding: "utf8" });
        expect({ text, status, stderr }).toEqual({ text, status: 0, stderr: "" });
        // The widths of columns may change.
        const shown = (printed: string) => printed.replace(/ +/g, " ");
        let from = 0;
        for (const line of shown(output).trimEnd().split("\n")) {
          const at = shown(stdout).indexOf(line, from);
          expect(at, `${text}prints "${line}" in\n${stdout}`).toBeGreaterThanOrEqual(0);
          from = at + line.length;
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("docs/README.md", () => {
  it("names every page", () => {
    const index = readFileSync(join(root, "docs/README.md"), "utf8");
    for (const page of pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md")) {
      expect(index, page).toContain(`](${page.slice("docs/".length)})`);
    }
  });
});

describe("README.md", () => {
  it("has at most 500 words, and says beside its promise what neighbours can learn", () => {
    const text = readFileSync(join(root, "README.md"), "utf8");
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(501);
    expect(text).toMatch(/No row leaves its device, but centroids are means of rows/);
  });

  it("is one of the pages, which have at most 50,000 words together", () => {
    const own = pages.filter((page) => page.startsWith("docs/") || !page.includes("/"));
    const words = own.map((page) => readFileSync(join(root, page), "utf8").split(/\s+/).length);
    expect(words.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(50_000);
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
      (name) => !["ci", "install", "init", "pack", "sbom"].includes(name),
    );
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect(scripts, `npm run ${name}`).toHaveProperty(name);
  });

  it("name flags of the command that exist", () => {
    const program = join(root, "cli/bin/fedkm.js");
    const { stdout } = spawnSync(process.execPath, [program, "completion", "bash"], { encoding: "utf8" });
    const known = new Set(stdout.match(/--[a-z][a-z-]*/g));
    expect(known.size).toBeGreaterThan(50);
    // Of npm, Docker, Node and the lab.
    const others =
      "--global --omit --ulimit --cpu-prof --only --quick --screens --reports --short --workload --help --version --sbom-format";
    for (const flag of text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []) {
      expect(known.has(flag) || others.split(" ").includes(flag), flag).toBe(true);
    }
  });

  it("are the README's two", () => {
    const readme = snippets("README.md").filter(({ language }) => language === "sh");
    expect(readme.map((snippet) => snippet.text)).toEqual(["npm install && npm start\n", "npm install && npm test\n"]);
  });

  it("name files that exist", () => {
    for (const [file] of text.matchAll(
      /\b(?:python|core|files|pictures|device|web|experiments|cli|lab|test|examples)\/[\w./-]+\.(?:ts|py|json)\b/g,
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
    for (const [, page, anchor] of readFileSync(join(root, "core/src/update/update.ts"), "utf8").matchAll(
      /(docs\/\w+\.md)#([\w-]+)/g,
    )) {
      expect(anchors(page)).toContain(anchor);
    }
  });
});

describe("pictures", () => {
  it("docs/together.svg and docs/methods/ are what npm run lab -- pictures draws, small, and one for every method", () => {
    const out = mkdtempSync(join(tmpdir(), "fedkm-docs-"));
    try {
      const script = join(root, "lab/dist/lab.js");
      const { status, stderr } = spawnSync(process.execPath, [script, "pictures", "--out", out], { encoding: "utf8" });
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
