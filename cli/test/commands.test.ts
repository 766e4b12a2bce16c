// Every command's help, its example as it stands, settings from a file, and completion in a shell.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const names = async () =>
  Array.from((await outcome("--help")).stdout.matchAll(/^ {2}([a-z]+) .*?/gm), ([, name]) => name);
/** The example of demo takes a while: demo.test.ts runs it. */
const ours = ["fit", "choose", "predict", "inspect", "completion"];

describe("examples", () => {
  const folder = temporaryFolder();
  folder.addExamples();

  test.each(ours)("fedkm %s --help ends with an example that runs", async (name) => {
    const { stdout } = await outcome(name, "--help");
    const [, example] = /Example:\n {2}fedkm (.*)\n/.exec(stdout) ?? [];
    expect(example).toBeDefined();
    const [line, redirected] = example.split(" > ");
    const { status, stdout: said, stderr } = folder.spawn(...line.split(" "));
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    if (redirected === undefined) expect(said.length).toBeGreaterThan(0);
    const [, file] = /--out (\S+)/.exec(line) ?? [];
    if (file !== undefined) expect(existsSync(join(folder.path, file))).toBe(true);
  });

  const page = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

  test("the command of docs/files.md on the example files prints what the page says", () => {
    const [, line, said] = /```bash\nnpx fedkm (.*)\n```\n\n```text\n([\s\S]*?)```/.exec(page("docs/files.md")) ?? [];
    expect(folder.spawn(...line.split(" "))).toEqual({ status: 0, stdout: said, stderr: "" });
    expect(existsSync(join(folder.path, "fedkm-results/report.html"))).toBe(true);
  });

  test("the command of README.md on the example files runs", () => {
    const [, line] = /`npx fedkm (fit .*?)`/.exec(page("README.md")) ?? [];
    expect(folder.spawn(...line.split(" "))).toMatchObject({ status: 0, stderr: "" });
  });

  test("the package's own README prints what it says", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, lines, said] = /```bash\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(readme) ?? [];
    const program = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));
    const script = lines.replaceAll("npx fedkm", `"${process.execPath}" "${program}"`);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { cwd: folder.path, encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: said, stderr: "" });
  });

  test("every command is among them", async () => {
    expect(await names()).toEqual(expect.arrayContaining(ours));
  });
});

describe("fedkm.yaml", () => {
  const folder = temporaryFolder();
  folder.addExamples();
  const files = ["examples/north.csv", "examples/south.csv"];
  const model = (name: string) => JSON.parse(readFileSync(join(folder.path, name, "model.json"), "utf8"));

  test("gives options to commands, and what is typed wins", () => {
    folder.file(
      "fedkm.yaml",
      "fit:\n  k: 3\n  exclude: [plant, leaf_mm]\n  alpha: 0.25\n  scale: standard\n  out: from-file\n  json: true\ndemo:\n  seed: 5\n",
    );
    const { status, stdout, stderr } = folder.spawn("fit", ...files, "--alpha", "2");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout).options).toEqual({
      k: 3,
      alpha: 2,
      method: "fedkm",
      graph: "complete",
      seed: 1,
      weighting: "sample",
    });
    expect(model("from-file").columns).toEqual(["height_cm", "flowering_day", "stem_g"]);
    expect(model("from-file").scaling.kind).toBe("standard");
  });

  test("--config names another file", () => {
    folder.file("other.yaml", 'fit: { k: 2, columns: "height_cm,stem_g", out: other }\n');
    expect(folder.spawn("--config", "other.yaml", "fit", ...files).status).toBe(0);
    expect(model("other").options.k).toBe(2);
  });

  test("gives lists to options that take many words, a single word too, and what is typed replaces it", () => {
    const compared = (names: string, ...typed: string[]) => {
      folder.file("lists.yaml", `compare: { exclude: plant, k: 3, messages: 4, method: ${names}, json: true }\n`);
      const { stdout, stderr } = folder.spawn("compare", ...files, "--config", "lists.yaml", ...typed);
      expect(stderr).toBe("");
      return JSON.parse(stdout).methods.map(({ method }: { method: string }) => method);
    };
    expect(compared("[local, pooled]", "--messages", "30")).toEqual(["local", "pooled"]);
    expect(compared("[local, pooled]", "--method", "local")).toEqual(["local"]);
    expect(compared("local")).toEqual(["local"]);
    folder.file("lists.yaml", "up: { data: [a.csv, b.csv], study: s, devices: 3 }\nreproduce: { data: none.csv }\n");
    expect(folder.spawn("up", "--config", "lists.yaml").stderr).toBe(
      "fedkm: --devices must be 2 (the files of --data), got 3\n",
    );
    expect(folder.spawn("reproduce", "features", "--config", "lists.yaml").stderr).toMatch(
      /^fedkm: none.csv.* must be a file that can be read, got no such file/,
    );
  });

  test.each([
    ["fit: { kk: 3 }", /^fedkm: bad.yaml must name options of fedkm fit under "fit", got "kk"\n$/],
    ["fti: { k: 3 }", /^fedkm: bad.yaml must have sections named as commands \(.*\), got "fti"\n$/],
    ["fit: { k: three }", /^fedkm: --k must be an integer from 1 to 1000000, got "three"\n$/],
    ["fit: { json: 1 }", /^fedkm: bad.yaml must have true or false for --json, got 1\n$/],
    ["fit: { k: { a: 1 } }", /^fedkm: bad.yaml must have a text, a number or a list for --k, got \{"a":1\}\n$/],
    ["fit: [", /^fedkm: bad.yaml must be YAML, got .* at line 1, column \d+:?\n$/],
    ["[1, 2]", /^fedkm: bad.yaml must hold a section for each command, got \[1,2\]\n$/],
    ["fit: 3", /^fedkm: bad.yaml must hold options under "fit", got 3\n$/],
  ])("%j is refused in one line", (text, line) => {
    folder.file("bad.yaml", text);
    const { status, stdout, stderr } = folder.spawn("fit", ...files, "--config=bad.yaml");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(line);
  });
});

describe("completion", () => {
  const folder = temporaryFolder();
  folder.addExamples();

  test("bash completes commands, options and files", async () => {
    const script = folder.file("fedkm.bash", (await outcome("completion", "bash")).stdout);
    const complete = (...words: string[]) => {
      const program = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fedkm; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", program, script, ...words], { encoding: "utf8", cwd: folder.path })
        .stdout.trim()
        .split("\n");
    };
    expect(complete("fedkm", "fi")).toEqual(["fit"]);
    expect(complete("fedkm", "fit", "--al")).toEqual(["--alpha"]);
    expect(complete("fedkm", "completion", "z")).toEqual(["zsh"]);
    expect(complete("fedkm", "fit", "examples/no")).toEqual(["examples/north.csv"]);
    expect(complete("fedkm", "fit", "--method", "co")).toEqual(["consensus", "coreset"]);
    expect(complete("fedkm", "fit", "--schedule", "r")).toEqual(["random"]);
    expect(complete("fedkm", "device", "rest")).toEqual(["restore"]);
    expect(complete("fedkm", "device", "run", "--dash")).toEqual(["--dashboard"]);
  });

  test.each(["zsh", "fish"])("%s takes the script, where it is installed", async (shell) => {
    const script = folder.file(`fedkm.${shell}`, (await outcome("completion", shell)).stdout);
    const { error, status, stderr } = spawnSync(shell, ["-n", script], { encoding: "utf8" });
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test.each(["zsh", "fish", "powershell"])("the script for %s names every command and its options", async (shell) => {
    const { stdout } = await outcome("completion", shell);
    for (const name of ours) expect(stdout).toContain(name);
    for (const option of ["alpha", "device-column", "model", "seed"]) expect(stdout).toContain(option);
  });

  test("another shell is refused", async () => {
    expect((await outcome("completion", "tcsh")).stderr).toMatch(
      /value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish, powershell./,
    );
  });
});
