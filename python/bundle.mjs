// Bundles the built command for the wheel: one JavaScript file that carries everything, WebAssembly included, and the few
// files that are read or started beside it. Usage: node bundle.mjs FOLDER

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const [, , out] = process.argv;

/** Programs that are started as processes or workers of their own, beside the command. */
const programs = ["cli/dist/commands/fit/stabilityProcess.js", "experiments/dist/trial/worker.js"];
/** What the command reads from its packages. */
const files = ["cli/package.json", "sql/package.json", "web/site", "experiments/studies", "experiments/data"];
/** Drivers of databases: whoever needs one is told which package to install. */
const external = [/^@duckdb\//, /^@clickhouse\//, "pg"];

/** Machine code, which a wheel for every platform cannot carry. */
const noResvg = {
  name: "no-resvg",
  resolveId: (name) => (name === "@resvg/resvg-js" ? "no-resvg" : undefined),
  load: (id) =>
    id === "no-resvg"
      ? `export class Resvg {
          constructor() {
            throw new Error("PNG and PDF must be drawn by the fedkm command of npm, got that of Python: use .svg");
          }
        }`
      : undefined,
};

/** Every module goes on finding the files of its package: in the bundle they lie at the same path. */
const packagePaths = (file) => ({
  name: "package-paths",
  transform(code, id) {
    if (!code.includes("import.meta.url") || !id.startsWith(root) || id.includes("node_modules")) return undefined;
    const path = relative(dirname(file), join(out, relative(root, id)));
    return code.replaceAll("import.meta.url", `new URL(${JSON.stringify(path)}, import.meta.url).href`);
  },
});

/** Folders of the packages of others whose code went into the bundle. */
const packages = new Set();

/** Their licences, which ask to be passed on. */
function licences() {
  return [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    return [`${name} ${version}: ${license}`, ...files.map((file) => readFileSync(join(folder, file), "utf8"))].join(
      "\n\n",
    );
  });
}

async function bundle(input, file) {
  const built = await rolldown({
    input: join(root, input),
    platform: "node",
    external,
    plugins: [packagePaths(file), noResvg],
  });
  const { output } = await built.write({ file, format: "esm", minify: true, codeSplitting: false });
  for (const id of output.flatMap(({ moduleIds = [] }) => moduleIds)) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
    if (folder !== undefined) packages.add(folder);
  }
}

rmSync(out, { recursive: true, force: true });
await bundle("cli/dist/fedkm.js", join(out, "fedkm.js"));
for (const program of programs) await bundle(program, join(out, program));
for (const file of files) cpSync(join(root, file), join(out, file), { recursive: true });
mkdirSync(join(out, "cli/bin"));
writeFileSync(join(out, "cli/bin/fedkm.js"), 'import "../../fedkm.js";\n');
writeFileSync(join(out, "LICENSES"), `${licences().join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
writeFileSync(join(out, "package.json"), '{ "type": "module" }\n');
