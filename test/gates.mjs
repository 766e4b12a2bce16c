// npm run gates: what a change may not do without saying so. Licences of what users install, hashes of every package, the
// public names and types of each package (npm run api writes them again), their comments, and the sizes of pages and packages.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (...path) => readFileSync(join(root, ...path), "utf8");

/** Terms under which a package may come with ours. MPL binds changes of its own files, and we change none. */
const ALLOWED = new Set([
  ...["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "CC0-1.0", "Unlicense", "MPL-2.0"],
]);

/** Licences that a package has in a file alone, as they were read by a person. */
const READ_BY_HAND = { "once@2.0.0": "MIT", "zstandard-wasm@1.5.0-rev.5": "MIT" };

const nameAt = (path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
const installed = (lock) =>
  Object.entries(lock.packages).filter(([path, { link }]) => path.includes("node_modules/") && link !== true);

/** One of several alternatives is enough. */
const isAllowed = (licence) =>
  (licence.match(/[\w.-]+/g) ?? []).some((word) => ALLOWED.has(word)) && !/ AND /.test(licence);

/** A package of one platform is licensed like the one that names it. */
function licenceOf(lock, path, entry) {
  if (entry.license !== undefined) return entry.license;
  const name = nameAt(path);
  const owner = installed(lock).find(([, { optionalDependencies = {} }]) => name in optionalDependencies);
  return READ_BY_HAND[`${name}@${entry.version}`] ?? owner?.[1].license ?? "no licence";
}

/** Of everything that comes with a package of ours; what only builds and tests them stays here. */
export function licenceFaults(lock) {
  return installed(lock)
    .filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)
    .map(([path, entry]) => [nameAt(path), entry.version, licenceOf(lock, path, entry)])
    .filter(([, , licence]) => !isAllowed(licence))
    .map(
      ([name, version, licence]) =>
        `${name}@${version} must have a licence of the list in test/gates.mjs, got ${licence}`,
    );
}

/** Packages of other platforms that the registry at hand does not serve have none; npm ci leaves those out. */
export function integrityFaults(lock) {
  return installed(lock)
    .filter(([, { integrity, optional, cpu }]) => {
      return integrity === undefined
        ? optional !== true || cpu === undefined
        : !/^sha512-[\w+/]{86}==$/.test(integrity);
    })
    .map(
      ([path, { version }]) =>
        `${nameAt(path)}@${version} must have a SHA-512 in package-lock.json; npm install writes it`,
    );
}

/** What differs between two records of a package's public names, one a line. */
export function apiFaults(name, recorded, found) {
  const [before, after] = [recorded, found].map((text) => new Set(text.split("\n")));
  const lines = [
    ...[...before].filter((line) => !after.has(line)).map((line) => `- ${line}`),
    ...[...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ];
  if (lines.length === 0) return [];
  const shown = lines.slice(0, 6).map((line) => `\n    ${line.slice(0, 160)}`);
  return [
    `the public API of ${name} must be as test/api/${name}.txt says; npm run api writes it again:${shown.join("")}`,
  ];
}

/** Sizes in kB when compressed, against what they may be. */
export function sizeFaults(sizes, budget) {
  const faults = Object.entries(sizes)
    .filter(([name, size]) => !(size <= (budget[name] ?? 0)))
    .map(([name, size]) => `${name} must have at most ${budget[name] ?? "no"} kB when compressed, got ${size}`);
  const gone = Object.keys(budget).filter((name) => !(name in sizes));
  return [...faults, ...gone.map((name) => `${name} has a budget and is not there; npm run build makes it`)];
}

const filesBelow = (folder, ending) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => ending.test(file) && statSync(file).isFile());

const compressed = (files) =>
  Math.ceil(files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0) / 1000);

/** The programs of each package, without what earlier builds have left; the pages with all that they may load; the documentation. */
function sizesOf(names) {
  const hasSource = (file) => existsSync(file.replace("/dist/", "/src/").replace(/\.js$/, ".ts"));
  const programs = (name) => filesBelow(join(root, name, "dist"), /\.js$/).filter(hasSource);
  const packages = names.map((name) => [name, compressed(programs(name))]);
  const site = filesBelow(join(root, "web/site"), /\.(html|js|css|woff2)$/);
  const documentation = filesBelow(join(root, "web/site/docs"), /./);
  const pages = site.filter((file) => !documentation.includes(file));
  return { ...Object.fromEntries(packages), pages: compressed(pages), documentation: compressed(documentation) };
}

/**
 * Every public name of packages: where it comes from, its declaration, and what its comment says. An option is named after
 * its interface. `condition` says which files are read: "types", those that were built, or "source".
 */
export function publicNames(names, condition = "types") {
  const entries = names.flatMap((name) =>
    Object.entries(JSON.parse(read(name, "package.json")).exports ?? {}).flatMap(([path, { [condition]: file }]) => {
      return file === undefined ? [] : [{ name, path, file: join(root, name, file) }];
    }),
  );
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  const commentOf = (symbol) => {
    const tags = symbol.getJsDocTags(checker);
    const examples = tags.filter(({ name }) => name === "example").map(({ text }) => ts.displayPartsToString(text));
    const isInternal = tags.some(({ name }) => name === "internal");
    return { comment: ts.displayPartsToString(symbol.getDocumentationComment(checker)), examples, isInternal };
  };
  return entries.flatMap(({ name, path, file }) => {
    const source = checker.getSymbolAtLocation(program.getSourceFile(file));
    return checker.getExportsOfModule(source).map((symbol) => {
      const own = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const options = symbol.name.endsWith("Options") ? [...(own.members?.values() ?? [])] : [];
      return {
        package: name,
        path,
        file,
        name: symbol.name,
        declarations: own.declarations ?? [],
        ...commentOf(own),
        options: options.map((member) => ({ name: `${symbol.name}.${member.name}`, ...commentOf(member) })),
      };
    });
  });
}

/** The names of each package with their declarations without comments, one a line. */
function recordsOf(found, names) {
  const printer = ts.createPrinter({ removeComments: true });
  const textOf = (declarations) =>
    declarations
      .map((node) => {
        return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()).replaceAll(/\s+/g, " ");
      })
      .sort()
      .join(" ");
  const linesOf = (name) =>
    found
      .filter((own) => own.package === name)
      .map(({ path, name: symbol, declarations }) => `${path} ${symbol}: ${textOf(declarations)}`)
      .sort();
  return new Map(
    names.map((name) => [
      name,
      linesOf(name)
        .map((line) => `${line}\n`)
        .join(""),
    ]),
  );
}

/** Public names and options that say nothing about themselves to whoever points at them in an editor. */
export function commentFaults(found) {
  const silent = found.flatMap((own) =>
    [own, ...own.options]
      .filter(({ comment, isInternal }) => comment === "" && !isInternal)
      .map(({ name }) => `${name} of ${own.package} must have a documentation comment, which editors show`),
  );
  return [...new Set(silent)];
}

function main() {
  const published = JSON.parse(read("package.json")).workspaces.filter(
    (name) => JSON.parse(read(name, "package.json")).private !== true,
  );
  const names = publicNames(published);
  const found = recordsOf(names, published);
  if (process.argv[2] === "api") {
    for (const [name, text] of found) writeFileSync(join(root, "test/api", `${name}.txt`), text);
    console.log(`test/api: the public names of ${found.size} packages`);
    return;
  }
  const lock = JSON.parse(read("package-lock.json"));
  const sizes = sizesOf(published);
  const budget = JSON.parse(read("test/budget.json"));
  for (const [name, size] of Object.entries(sizes))
    console.log(`${name.padEnd(12)} ${String(size).padStart(5)} kB of ${budget[name] ?? 0}`);
  const recorded = new Map(published.map((name) => [name, read("test/api", `${name}.txt`)]));
  const faults = [
    ...licenceFaults(lock),
    ...integrityFaults(lock),
    ...published.flatMap((name) => apiFaults(name, recorded.get(name), found.get(name))),
    ...sizeFaults(sizes, budget),
    ...commentFaults(names),
  ];
  for (const fault of faults) console.error(`gate: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
  else console.log("every gate is passed: licences, hashes, public names, sizes, comments");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
