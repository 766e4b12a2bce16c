// The packed core as users build and run it: esbuild, Rollup, Vite and webpack for Node and for pages, Bun, Deno, an old
// TypeScript, and Chromium and Firefox with and without WebAssembly. Each prints the bits that Node prints. A part of npm run packed.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, extname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** What a user would install beside the packages; none of it is a dependency of ours. */
const TOOLS = [
  ...["esbuild@0.28.2", "rollup@4.68.3", "@rollup/plugin-node-resolve@16.0.3", "webpack@5.112.2", "vite@8.3.8"],
  ...["bun@1.4.4", "deno@2.9.6", "typescript@4.9.5", "puppeteer-core@25.16.0"],
];

const ANSWER = `import { fit, paperData, ring } from "@fedkm/core";
import { fitAsync } from "@fedkm/core/async";
const { datasets } = paperData("aniso", 4, 300, 1);
const options = { k: 3, alpha: 1, seed: 1 };
const bitsOf = ({ objective, centroids }) => JSON.stringify([objective, ...centroids[0].data]);
export async function answer(more) {
  const bits = bitsOf(fit(datasets, ring(4), options));
  const later = bitsOf(await fitAsync(datasets, ring(4), { ...options, ...more }));
  return later === bits ? bits : "the worker differs: " + later;
}
`;
const SOURCES = {
  "answer.js": ANSWER,
  "worker.js": 'import "@fedkm/core/worker";\n',
  "direct.js": 'import { answer } from "./answer.js";\nconsole.log(await answer({}));\n',
  "node.js": `import { Worker } from "node:worker_threads";
import { answer } from "./answer.js";
console.log(await answer({ worker: () => new Worker(new URL("./worker.js", import.meta.url)) }));
`,
  "page.js": `import { answer } from "./answer.js";
const worker = () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
answer({ worker }).catch(String).then((text) => (document.title = text));
`,
  "foundPage.js": `import { answer } from "./answer.js";
answer({}).catch(String).then((text) => (document.title = text));
`,
  "index.html": '<!doctype html><script type="module" src="./page.js"></script>\n',
  "found.html": '<!doctype html><script type="module" src="./foundPage.js"></script>\n',
  "old.json":
    '{ "compilerOptions": { "noEmit": true, "skipLibCheck": true, "module": "node16", "types": [] }, "files": ["old.ts"] }\n',
  "old.ts": 'import { fit } from "@fedkm/core";\nexport const model = fit([], 5);\n',
};

/** `folder` is made; `run` is that of packed.mjs; `tarball` is the packed core. */
export async function tryBundlers({ folder, tarball, run }) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "bundled", "private": true, "type": "module" }\n');
  run("npm install of bundlers, Bun and Deno", "npm", ["install", "--no-audit", "--no-fund", ...TOOLS, tarball], {
    cwd: folder,
  });
  for (const [name, text] of Object.entries(SOURCES)) writeFileSync(join(folder, name), text);
  const program = (what, command, args) => run(what, command, args, { cwd: folder }).trim();
  const bits = program("Node", process.execPath, ["direct.js"]);
  const same = (what, found) => {
    if (found !== bits) throw new Error(`${what} gives ${found} in place of ${bits}`);
  };
  const bin = (name) => join(folder, "node_modules/.bin", name);
  same("Bun", program("Bun", bin("bun"), ["direct.js"]));
  same("Deno", program("Deno", bin("deno"), ["run", "--allow-all", "--node-modules-dir=manual", "direct.js"]));
  run("TypeScript 4.9 is told what it needs", "sh", ["-c", "! node_modules/.bin/tsc -p old.json"], {
    cwd: folder,
    says: /needs-TypeScript-5\.0-or-newer\.d\.ts' is not a module/,
  });

  const load = (name) => import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)));
  // Out of reach of every node_modules: a bundle has all that it needs.
  const built = mkdtempSync(join(tmpdir(), "fedkm-bundled-"));
  process.on("exit", () => rmSync(built, { recursive: true, force: true }));
  writeFileSync(join(built, "package.json"), '{ "type": "module" }\n');
  const out = (name) => join(built, name);
  await withEsbuild(await load("esbuild"), folder, out);
  await withRollup(await load("rollup"), (await load("@rollup/plugin-node-resolve")).default, folder, out);
  await withWebpack((await load("webpack")).default, folder, out);
  for (const name of ["esbuild", "rollup", "webpack"])
    same(name, program(`${name} for Node`, process.execPath, [join(out(`${name}-node`), "node.js")]));
  const { build } = await import(pathToFileURL(join(folder, "node_modules/vite/dist/node/index.js")));
  await build({
    root: folder,
    base: "./",
    logLevel: "error",
    worker: { format: "es" },
    build: {
      outDir: out("vite"),
      emptyOutDir: true,
      target: "esnext",
      rollupOptions: { input: ["index.html", "found.html"] },
    },
  });

  const pages = ["esbuild/index.html", "rollup/index.html", "webpack/index.html", "webpack/found.html"];
  pages.push("vite/index.html", "vite/found.html");
  for (const { name, open, close } of await browsers(await load("puppeteer-core"))) {
    try {
      for (const page of pages) {
        for (const policy of ["script-src 'self' 'wasm-unsafe-eval'", "script-src 'self'"]) {
          const server = await serve(built, policy);
          const { title, warnings } = await open(`http://127.0.0.1:${server.address().port}/${page}`);
          server.close();
          same(`${page} in ${name} under ${policy}`, title);
          const heard = warnings.filter((text) => text.startsWith("fedkm: ")).length;
          // The page and its worker are two programs; not every browser passes on what a worker says.
          if (policy.includes("wasm") ? heard !== 0 : heard < 1 || heard > 2)
            throw new Error(`${page} in ${name} under ${policy} warns ${heard} times`);
        }
      }
      console.log(`good  ${pages.length} pages in ${name}, with and without WebAssembly`);
    } finally {
      await close();
    }
  }
}

async function withEsbuild({ build }, folder, out) {
  const common = { absWorkingDir: folder, bundle: true, format: "esm", logLevel: "error" };
  await build({ ...common, entryPoints: ["node.js", "worker.js"], platform: "node", outdir: out("esbuild-node") });
  await build({ ...common, entryPoints: ["page.js", "worker.js"], platform: "browser", outdir: out("esbuild") });
  writeFileSync(join(out("esbuild"), "index.html"), SOURCES["index.html"]);
}

async function withRollup({ rollup }, nodeResolve, folder, out) {
  for (const [target, main, options] of [
    ["rollup-node", "node.js", { exportConditions: ["node"] }],
    ["rollup", "page.js", { browser: true }],
  ]) {
    const input = [main, "worker.js"].map((name) => join(folder, name));
    const bundle = await rollup({ input, plugins: [nodeResolve(options)], external: [/^node:/] });
    await bundle.write({ dir: out(target), format: "es" });
    await bundle.close();
  }
  writeFileSync(join(out("rollup"), "index.html"), SOURCES["index.html"]);
}

async function withWebpack(webpack, folder, out) {
  const settings = {
    context: folder,
    mode: "production",
    optimization: { minimize: false },
    experiments: { outputModule: true },
  };
  const output = (path) => ({ path, module: true, filename: "[name].js", publicPath: "auto" });
  const pages = { page: "./page.js", foundPage: "./foundPage.js" };
  await new Promise((resolve, reject) =>
    webpack(
      [
        {
          ...settings,
          target: "node20",
          entry: { node: "./node.js", worker: "./worker.js" },
          output: output(out("webpack-node")),
          // webpack 5.112 writes no valid program for a Worker that is imported from node:worker_threads.
          module: { parser: { javascript: { worker: false, url: false } } },
        },
        { ...settings, target: "web", entry: pages, output: output(out("webpack")) },
      ],
      (error, stats) =>
        error || stats.hasErrors() ? reject(error ?? new Error(stats.toString("errors-only"))) : resolve(),
    ),
  );
  for (const page of ["index.html", "found.html"]) writeFileSync(join(out("webpack"), page), SOURCES[page]);
}

const TYPES = { ".html": "text/html", ".js": "text/javascript" };

function serve(folder, policy) {
  const server = createServer(({ url }, response) => {
    const file = join(folder, url);
    if (!existsSync(file)) return response.writeHead(404).end();
    const headers = { "content-type": TYPES[extname(file)] ?? "text/plain", "content-security-policy": policy };
    response.writeHead(200, headers).end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Those of the system's packages: puppeteer drives Firefox as it is shipped. */
async function browsers({ default: puppeteer }) {
  const find = (names) =>
    (process.env.PATH ?? "")
      .split(delimiter)
      .flatMap((folder) => names.map((name) => join(folder, name)))
      .find(existsSync);
  const programs = { chrome: find(["chromium", "google-chrome"]), firefox: find(["firefox-esr", "firefox"]) };
  const found = [];
  for (const [name, executablePath] of Object.entries(programs)) {
    if (executablePath === undefined) {
      if (process.env.FEDKM_EVERY_TEST === "1") throw new Error(`${name} is not on the PATH`);
      console.log(`      ${name} is not on the PATH: its pages were not opened`);
      continue;
    }
    const browser = await puppeteer.launch({
      browser: name,
      executablePath,
      headless: true,
      args: name === "chrome" ? ["--no-sandbox"] : [],
    });
    const open = async (address) => {
      const page = await browser.newPage();
      const warnings = [];
      page.on("console", (message) => warnings.push(message.text()));
      await page.goto(address);
      await page.waitForFunction(() => document.title !== "", { timeout: 60_000 }).catch(() => {});
      const title = await page.title();
      await page.close();
      return { title, warnings };
    };
    found.push({ name, open, close: () => browser.close() });
  }
  return found;
}
