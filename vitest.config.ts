import { defineConfig } from "vitest/config";

export default defineConfig({
  // Tests run the TypeScript sources of every workspace, not what a build left behind.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["*/test/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
  },
});
