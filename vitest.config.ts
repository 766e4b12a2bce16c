// Which tests run: npm test leaves out the long ones, and --mode long (npm run test:long) takes nothing else.

import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

const LONG = "*/test/**/*.long.test.ts";

export default defineConfig(({ mode }) => ({
  // Tests run the TypeScript sources of every workspace, not what a build left behind.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: mode === "long" ? [LONG] : ["*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: mode === "long" ? configDefaults.exclude : [...configDefaults.exclude, LONG],
    // One more than there are processors: tests of devices mostly wait.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    // What a page or a device does next takes longer than a second where other tests use the processors.
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ["core/test/hosts/installChromium.ts"],
    // Every frame that a device sends in a test is looked at.
    setupFiles: ["device/test/wireScan.ts"],
  },
}));
