// npm run packed: packs every published workspace, lints the packages, publishes them without sending anything, installs
// them into an empty folder as a user would, and tries them there: the command, import, require, types, optional drivers,
// bundlers and other engines. Needs a registry, so it is no part of npm test.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { missingEngines, startClickHouse, startPostgres } from "../lab/dist/engines/index.js";
import { tryBundlers } from "./bundlers.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fedkm-packed-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function manifest(path) {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}

/** Runs a program; whatever is not as expected ends everything with what it said. */
function run(what, command, args, { cwd = folder, says = /(?:)/, warns = /(?:)/ } = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  const isGood = status === 0 && says.test(stdout) && warns.test(stderr);
  console.log(`${isGood ? "good" : "BAD "}  ${what}`);
  if (!isGood) {
    console.error(`${command} ${args.join(" ")}\n${stdout}${stderr}`);
    process.exit(1);
  }
  return stdout;
}

// npm may warn of this machine's settings, of lab, which is private, and that nobody is logged in, of nothing else.
const quiet =
  /^(?:npm warn (?:Unknown (?:builtin|cli|env|global|project|user) config|publish Skipping workspace @fedkm\/lab,|publish This command requires you to be logged in) .*\n)*$/;
const packages = manifest(root).workspaces.map((workspace) => ({ workspace, ...manifest(join(root, workspace)) }));
const published = packages.filter((workspace) => !workspace.private);
const names = published.map(({ name }) => name);
const tarballs = join(folder, "tarballs");
run("npm pack of every published workspace", process.execPath, [join(root, "deploy/pack.mjs"), tarballs]);
for (const { workspace, name, publishConfig, dependencies = {} } of published) {
  const unpublished = Object.keys(dependencies).find((other) => other.startsWith("@fedkm/") && !names.includes(other));
  if (unpublished !== undefined) throw new Error(`${name} depends on ${unpublished}, which is private`);
  // npm takes scoped packages for private ones unless they say otherwise.
  if (name.startsWith("@") && publishConfig?.access !== "public") throw new Error(`${name} has no public access`);
  const publint = join(root, "node_modules/.bin/publint");
  run(`${workspace}: publint`, publint, ["--strict", workspace], { cwd: root, says: /All good/ });
}
const dryRun = ["publish", "--dry-run", "--workspaces", "--loglevel=warn"];
run("npm publish --dry-run of every workspace", "npm", dryRun, { cwd: root, warns: quiet });

writeFileSync(join(folder, "package.json"), '{ "name": "user", "private": true }\n');
const files = published.map(({ name, version }) => {
  return join(tarballs, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
});
// No package of the tree asks for a newer Node or is given up by its authors.
run("npm install of the tarballs in an empty folder", "npm", ["install", "--no-audit", "--no-fund", ...files], {
  warns: quiet,
});

// Every package says what it is and under which terms, and its example does there what its page says.
const license = readFileSync(join(root, "LICENSE"), "utf8");
for (const { name } of published) {
  const own = (file) => readFileSync(join(folder, "node_modules", name, file), "utf8");
  if (own("LICENSE") !== license) throw new Error(`${name} has another license`);
  const found = /```(ts|bash)\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(own("README.md"));
  if (found === null) throw new Error(`the README of ${name} has no example with its output`);
  const [, language, example, said] = found;
  const script = ts.transpile(example, { target: "es2023", module: "esnext" });
  const [command, ...args] =
    language === "bash" ? ["sh", "-c", example] : [process.execPath, "--input-type=module", "-e", script];
  const printed = run(`${name}: license, README and its example`, command, args);
  if (printed !== said) throw new Error(`the example of ${name} printed\n${printed}instead of\n${said}`);
}

const fedkm = join(folder, "node_modules/.bin/fedkm");
cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
run("fedkm --version", fedkm, ["--version"], { says: /^\d+\.\d+\.\d+\n$/ });
run("fedkm demo", fedkm, ["demo"], { says: /picture: fedkm-demo.svg/ });
run("fedkm fit", fedkm, ["fit", "examples/north.csv", "examples/south.csv", "--k", "3", "--exclude", "plant"]);
if (!existsSync(join(folder, "fedkm-results/report.html"))) throw new Error("fedkm fit left no report");
run("fedkm verify", fedkm, ["verify", "fedkm-results/model.json", "examples/north.csv", "examples/south.csv"], {
  says: /^fedkm-results\/model\.json is verified\n/,
});

// docs/operations.md from top to bottom in a shell, with devices that run until the end.
const page = readFileSync(join(root, "docs/operations.md"), "utf8");
const blocks = Array.from(page.matchAll(/^```bash\n([\s\S]*?)^```/gm), ([, block]) => block);
const path = `PATH="${join(folder, "node_modules/.bin")}:$PATH"`;
const script = [path, "trap 'kill $(jobs -p)' EXIT", ...blocks].join("\n");
run(`all ${blocks.length} blocks of docs/operations.md`, "bash", ["-euc", script]);

// Plug-ins in a folder of their own, from which no package of ours can be found but through the running command.
const outside = mkdtempSync(join(tmpdir(), "fedkm-plugin-"));
process.on("exit", () => rmSync(outside, { recursive: true, force: true }));
const typed = readFileSync(join(root, "examples/plugin.ts"), "utf8");
writeFileSync(join(outside, "typed.ts"), typed);
writeFileSync(join(outside, "plain.js"), ts.transpile(typed, { target: "es2023", module: "esnext" }));
for (const plugin of ["plain.js", "typed.ts"]) {
  const added = ["--plugin", plugin, "--dataset", "square", "--graph", "table", "--method", "fedkm,gossip"];
  run(`fedkm compare --plugin ${plugin}`, fedkm, ["compare", ...added, "--typical-rows", "40"], {
    cwd: outside,
    says: /^gossip .*$/m,
    warns: /^$/,
  });
  const again = ["reproduce", "figure1", "--quick", "--runs", "1", "--out", `again-${plugin}`, "--plugin", plugin];
  run(`fedkm reproduce --plugin ${plugin}`, fedkm, again, { cwd: outside, warns: /^$/ });
  if (!/,gossip,/.test(readFileSync(join(outside, `again-${plugin}/runs.csv`), "utf8")))
    throw new Error(`fedkm reproduce --plugin ${plugin} ran no method of it`);
}

const program =
  "const { points } = { points: kmeans(matrix([[0], [1], [9]]), { k: 2 }) }; console.log(points.labels.length)";
const node = (kind, code) => run(kind, process.execPath, [`--input-type=${kind}`, "-e", code], { says: /^3\n/ });
node("module", `const { kmeans, matrix } = await import("@fedkm/core"); ${program}`);
node("commonjs", `const { kmeans, matrix } = require("@fedkm/core"); ${program}`);
// The worker is a file of the package, and leaves nothing behind that would keep the process alive.
node(
  "module",
  'import { kmeansAsync } from "@fedkm/core/async"; const points = { data: Float64Array.of(0, 1, 9), rows: 3, cols: 1 }; console.log((await kmeansAsync(points, { k: 2 })).labels.length)',
);
node(
  "module",
  'import { readTable } from "@fedkm/files"; console.log((await readTable("examples/north.csv", { columns: ["leaf_mm"] })).points.rows / 40)',
);

writeFileSync(
  join(folder, "user.ts"),
  `import { type FitModel, complete, fit, kmeans, matrix, methods } from "@fedkm/core";
import { fitAsync, type WorkerProgress } from "@fedkm/core/async";
import { type Table, readTable } from "@fedkm/files";
const table: Table = await readTable("x.csv");
const model: FitModel = fit([table.points, matrix([[1]])], complete(2), { k: 1, alpha: 1 });
export const objective: number = model.objective;
export const later: Promise<FitModel> = fitAsync([table.points], complete(1), {
  k: 1,
  alpha: 1,
  seed: undefined,
  onProgress: ({ passes }: WorkerProgress) => passes,
});
kmeans(table.points, { k: 2, seed: undefined, weights: undefined });
methods.pooled([table.points], complete(1), { k: 3 });
// @ts-expect-error types are there: k is a number
fit([], complete(1), { k: "one", alpha: 1 });
`,
);
const tsc = join(root, "node_modules/typescript/bin/tsc");
for (const resolution of ["nodenext", "bundler"]) {
  const module = resolution === "bundler" ? "esnext" : resolution;
  const options = [
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--target",
    "es2023",
    "--module",
    module,
    "--moduleResolution",
    resolution,
  ];
  writeFileSync(join(folder, "package.json"), '{ "name": "user", "private": true, "type": "module" }\n');
  run(`types resolve: ${resolution}`, process.execPath, [tsc, ...options, "--skipLibCheck", "user.ts"]);
}

// Drivers of databases come with nothing; the command says which one to install, and every engine then gives the clusters of the file.
const centroidsIn = (results) => {
  const { devices } = JSON.parse(readFileSync(join(folder, results, "model.json"), "utf8"));
  return JSON.stringify(devices.map(({ centroids }) => centroids));
};
const centroidsOf = (source) => {
  const args = ["fit", source, "--k", "3", "--exclude", "plant", "--read", "memory", "--out", "sourced"];
  run(`fedkm fit ${source.replace(/:\d+/, "")}`, fedkm, args);
  return centroidsIn("sourced");
};
const without = `! ${fedkm} fit duckdb:examples/north.csv --k 3 2>&1`;
const install = /needs @duckdb\/node-api, which is not installed: npm install "(.*)"\n/;
const [, driver] = install.exec(run("fedkm fit without a driver", "sh", ["-c", without], { says: install }));
run("npm install of drivers", "npm", ["install", "--no-audit", "--no-fund", ...files, driver, "pg", "pg-copy-streams"]);
run("fedkm fit examples/north.csv", fedkm, ["fit", "examples/north.csv", "--k", "3", "--exclude", "plant"]);
const expected = centroidsIn("fedkm-results");
const expectClusters = (source) => {
  const found = centroidsOf(source);
  if (found !== expected) throw new Error(`${source} gives ${found} in place of ${expected}`);
};
expectClusters("duckdb:examples/north.csv");
const missing = missingEngines();
if (missing.length > 0 && process.env.FEDKM_EVERY_TEST === "1") throw new Error(missing.join("\n"));
const rows = readFileSync(join(root, "examples/north.csv"), "utf8").trim().split("\n").slice(1);
const values = rows.map((row) => `(${row.replace(/^[^,]*/, "'$&'")})`).join(",");
const columns = ["height_cm", "leaf_mm", "flowering_day", "stem_g"];
for (const [start, number, after] of missing.length > 0
  ? []
  : [
      [startPostgres, "float8", ""],
      [startClickHouse, "Float64", "ENGINE = MergeTree() ORDER BY plant"],
    ]) {
  const server = await start();
  try {
    const text = number === "float8" ? "text" : "String";
    const names = columns.map((name) => `${name} ${number}`).join(", ");
    await server.run(`CREATE TABLE north (plant ${text}, ${names}) ${after}`);
    await server.run(`INSERT INTO north VALUES ${values}`);
    expectClusters(number === "float8" ? `${server.address}?table=north` : `${server.address}/north`);
  } finally {
    await server.stop();
  }
}

await tryBundlers({ folder: join(folder, "bundled"), tarball: files[names.indexOf("@fedkm/core")], run });
