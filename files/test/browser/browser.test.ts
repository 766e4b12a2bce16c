// Files in Chromium, as a page reads what somebody dropped on it: the tables and refusals of Node.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { createViteServer } from "vitest/node";
import { launchChromium, browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { type ReadOptions, readTable } from "../../src/node.ts";
import { corpus } from "../corpus.ts";
import { type Outcome, outcome } from "../outcome.ts";
import type { SentFile } from "./page.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let browser: Browser;
let cache = "";
beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), "fedkm-files-browser-"));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(cache, { recursive: true, force: true });
});

async function outcomesOfPage(files: readonly SentFile[]): Promise<Outcome[]> {
  const server = await createViteServer({
    root,
    configFile: false,
    logLevel: "error",
    cacheDir: cache,
    // The packages used are ES modules already.
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { host: "127.0.0.1", port: 0, hmr: false, watch: null },
  });
  try {
    await server.listen();
    const page = await browser.newPage();
    await page.goto(`${server.resolvedUrls?.local[0]}files/test/browser/page.html`);
    return await page.evaluate(
      `import("/files/test/browser/page.ts").then(({ outcomes }) => outcomes(${JSON.stringify(files)}))`,
    );
  } finally {
    await server.close();
  }
}

type Content = readonly [name: string, content: string | Uint8Array, options: ReadOptions];

const codecs = ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw", "second-version"];
const csv = `site,a,b\n${Array.from({ length: 20_000 }, (_, r) => `é${r % 3},${r},${r / 7}`).join("\n")}\n`;
const readable: readonly Content[] = [
  ["rows.csv", csv, { deviceColumn: "site" }],
  ["rows.csv.gz", gzipSync(csv), { deviceColumn: "site" }],
  ["rows.jsonl", '{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', {}],
  ...codecs.map((codec): Content => {
    const file = fileURLToPath(new URL(`../fixtures/${codec}.parquet`, import.meta.url));
    return [`${codec}.parquet`, readFileSync(file), { columns: ["id", "few", "big"], deviceColumn: "site" }];
  }),
];
/** What can be sent to a page as text in one piece. */
const MOST_BYTES = 1e6;
const refused = corpus.map(([name, content, , options = {}]): Content => [name, content, options]);
const all = [...readable, ...refused].filter(([, content]) => content.length < MOST_BYTES);

const asSent = ([name, content, options]: Content): SentFile => {
  return { name, base64: Buffer.from(content).toString("base64"), options };
};

test("a page reads and refuses files as Node does", async () => {
  const found = await outcomesOfPage(all.map(asSent));
  for (const [i, [name, content, options]] of all.entries()) {
    const own = await outcome(readTable(new File([Buffer.from(content)], name), options));
    expect({ name, ...found[i] }).toEqual({ name, ...own });
  }
  expect(found.filter((own) => "values" in own)).toHaveLength(readable.length);
  expect(found.length).toBeGreaterThan(90);
});

// The one difference: a browser's decompression ends with the first part.
test("gzip data of several parts is read by Node and refused, not cut short, by a page", async () => {
  const parts: Content = ["parts.csv.gz", Buffer.concat([gzipSync("a,b\n1,2\n"), gzipSync("3,4\n")]), {}];
  const [found] = await outcomesOfPage([asSent(parts)]);
  expect(found).toMatchObject({ rule: "come from whole gzip data", got: "data that is cut or damaged" });
  expect(await outcome(readTable(new File([Buffer.from(parts[1])], parts[0])))).toMatchObject({ values: [1, 2, 3, 4] });
});
