// The kernel on a newer Node than the oldest supported one: the bits of the reference, the bytes of this Node.

import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { type HostReport, hashes, PINNED } from "./suite.ts";

/** The npm package of this name brings the program; npm keeps it in its cache. It runs TypeScript as it is. */
const PACKAGE = "node@24.9.0";
/** Long enough to fetch the program once. */
const TIME = 600_000;

const PROGRAM = `
  const { report } = await import(${JSON.stringify(new URL("./suite.ts", import.meta.url).href)});
  console.log(JSON.stringify({ version: process.versions.node, ...await report() }));
`;

function reportOfNode(): HostReport & { version: string } {
  const words = ["exec", "--yes", "--prefer-offline", `--package=${PACKAGE}`, "--", "node", "--input-type=module", "-"];
  const { status, stdout, stderr, error } = spawnSync("npm", words, {
    input: PROGRAM,
    encoding: "utf8",
    timeout: TIME,
  });
  if (status !== 0) throw new Error(`${PACKAGE} of npm did not run here: ${error?.message ?? stderr.trim()}`);
  return JSON.parse(stdout);
}

test(
  `${PACKAGE} has the bits of the reference and of this Node`,
  async () => {
    const { version, ...answer } = reportOfNode();
    expect(`node@${version}`).toBe(PACKAGE);
    expect(answer).toEqual({ hasSimd: true, isIsolated: false, differences: [], hashes: await hashes() });
    expect(answer.hashes).toMatchObject(PINNED);
  },
  TIME,
);
