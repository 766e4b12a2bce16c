// What the command prints and writes, byte for byte: a change of words or numbers that nobody meant is seen here.
// After a change that was meant: npx vitest run test/goldens -u, and read the difference before it is committed.

import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { outcome } from "../../cli/test/folder.ts";
import { commands, dataFiles } from "./commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = process.cwd();
let folder = "";

afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true, force: true });
});

test.each(commands)("$name is as recorded", async ({ name, lines }) => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-golden-"));
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  mkdirSync(join(folder, "data"));
  for (const [file, text] of Object.entries(dataFiles())) writeFileSync(join(folder, "data", file), text);
  process.chdir(folder);
  const parts: string[] = [];
  for (const line of lines) {
    const { code, stdout, stderr } = await outcome(...line);
    parts.push(`$ fedkm ${line.join(" ")}`, `exit ${code}`, withoutTimes(stdout + stderr));
  }
  await expect(`${[...parts, ...writtenFiles()].join("\n")}\n`).toMatchFileSnapshot(`recorded/${name}.txt`);
});

/** What a file of more bytes says is recorded by its digest. */
const LARGEST_WHOLE = 2_000;

function writtenFiles(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/^(examples|data)\b/.test(relative(folder, file)))
    .sort()
    .map((file) => {
      const bytes = readFileSync(file);
      const text = withoutTimes(bytes.toString("utf8"));
      const isWhole = !bytes.includes(0) && text.length <= LARGEST_WHOLE;
      const digest = createHash("sha256").update(bytes.includes(0) ? bytes : text);
      const name = relative(folder, file).replaceAll("\\", "/");
      return `--- ${name}\n${isWhole ? text : `${text.length} characters, sha256 ${digest.digest("hex")}`}`;
    });
}

/** Times differ from run to run, and so does the folder. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(folder, "")
    .replace(/"(\w*milliseconds|read|fit|core|total)": [\d.e-]+/gi, '"$1": 0')
    .replace(/\b\d+(\.\d+)? (ms|s)\b/g, "0 s");
}
