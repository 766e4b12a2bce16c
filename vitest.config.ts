// Which tests run: npm test leaves out the long ones, and --mode long (npm run test:long) takes nothing else.

import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

const LONG = "*/test/**/*.long.test.ts";

/** Fresh problems in every long run; the seed is printed, so that a failure can be drawn again. */
function longSeed(): string {
  const seed = process.env.FEDKM_TEST_SEED ?? String(randomInt(2 ** 31));
  console.log(`FEDKM_TEST_SEED=${seed} npm run test:long draws these problems again`);
  return seed;
}

export default defineConfig(({ mode }) => ({
  // Tests run the TypeScript sources of every workspace, not what a build left behind.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: mode === "long" ? [LONG] : ["*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: mode === "long" ? configDefaults.exclude : [...configDefaults.exclude, LONG],
    // One more than there are processors: tests of devices mostly wait.
    maxWorkers: availableParallelism() + 1,
    // What never ends is stopped; what is slow on a busy machine is not wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    ...(mode === "long" && { env: { FEDKM_TEST_SEED: longSeed() } }),
    globalSetup: ["core/test/hosts/installChromium.ts"],
    // Every frame that a device sends in a test is looked at.
    setupFiles: ["device/test/wireScan.ts"],
  },
}));
