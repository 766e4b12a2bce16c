// Which tests run: npm test leaves out the long ones, --mode long (npm run test:long) takes nothing else, and --mode node
// takes what CI also runs on other versions of Node: core, files and device without what runs in a browser.

import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import Skips from "./test/skips.ts";

const LONG = "*/test/**/*.long.test.ts";
const BROWSER = "*/test/**/browser.test.ts";

const ALL = { include: ["*/test/**/*.test.ts", "test/**/*.test.ts"], exclude: [LONG] };
const byMode: Record<string, typeof ALL> = {
  long: { include: [LONG], exclude: [] },
  node: { include: ["{core,files,device}/test/**/*.test.ts"], exclude: [LONG, BROWSER] },
};

/** Left out on Windows, with what it has not. Nobody has run the others there but CI. */
const NOT_ON_WINDOWS: Record<string, string> = {
  "cli/test/{demo,device,interrupt,logs,stop,up}.test.ts": "processes that end by signals",
  "cli/test/{choose,commands,inspect}.test.ts": "lines as a POSIX shell takes them apart",
  "core/test/hosts/node.test.ts": "npm as a program that needs no shell",
  "device/test/**/{identity,store}.test.ts": "file modes and symbolic links",
  "sql/test/{address,spool}.test.ts": "file modes and files that are deleted while open",
  "test/{docs,operations,python}.test.ts": "the pages' command lines, in a POSIX shell",
};

/** Fresh problems in every long run; the seed is printed, so that a failure can be drawn again. */
function longSeed(): string {
  const seed = process.env.FEDKM_TEST_SEED ?? String(randomInt(2 ** 31));
  console.log(`FEDKM_TEST_SEED=${seed} npm run test:long draws these problems again`);
  return seed;
}

/** Take minutes, much of them waiting: begun last they would keep processors idle. The longest stands first. */
const LONGEST = [
  "test/conformance.",
  "test/python.",
  "cli/test/dashboard/",
  "cli/test/demo.",
  "test/goldens/",
  "test/operations.",
  "cli/test/plugins.",
  "cli/test/sweep.",
  "cli/test/up.",
  "cli/test/device.",
  "web/test/browser/",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((path) => moduleId.includes(path));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig(({ mode }) => ({
  // Tests run the TypeScript sources of every workspace, not what a build left behind.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: (byMode[mode] ?? ALL).include,
    exclude: [
      ...configDefaults.exclude,
      ...(byMode[mode] ?? ALL).exclude,
      ...(process.platform === "win32" ? Object.keys(NOT_ON_WINDOWS) : []),
    ],
    // Node 20 may abort when a worker thread ends while V8 compiles for it in the background, so nothing is compiled there.
    execArgv: ["--no-concurrent-recompilation"],
    // More than there are processors: tests of devices and pages mostly wait.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // What never ends is stopped; what is slow on a busy machine is not wrong.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 600_000 } },
    ...(mode === "long" && { env: { FEDKM_TEST_SEED: longSeed() } }),
    ...(mode !== "node" && { globalSetup: ["core/test/hosts/installChromium.ts"] }),
    // Every frame that a device sends in a test is looked at.
    setupFiles: ["device/test/wireScan.ts"],
    reporters: ["default", new Skips()],
  },
}));
