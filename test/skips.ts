// Tests that did not run: counted and listed after every run, each with its reason. Where everything can be installed
// (FEDKM_EVERY_TEST, which .ci/run sets as root) one without a reason fails the run.

import type { Reporter, TestModule, Vitest } from "vitest/node";

export interface SkippedTest {
  readonly file: string;
  readonly name: string;
  /** What the test said when it skipped itself. */
  readonly reason: string | undefined;
}

function skippedTests(modules: readonly TestModule[]): SkippedTest[] {
  return modules.flatMap((module) =>
    Array.from(module.children.allTests("skipped"), (test) => {
      const result = test.result();
      const reason = result.state === "skipped" ? result.note : undefined;
      return { file: module.relativeModuleId, name: test.fullName, reason };
    }),
  );
}

/** The lines of the list, and whether the run fails for it. */
export function judgeSkips(skipped: readonly SkippedTest[], isEveryTestWanted: boolean) {
  const lines = skipped.map(({ file, name, reason }) => `  ${file} > ${name}: ${reason ?? "no reason"}`);
  const unnamed = skipped.filter(({ reason }) => reason === undefined).length;
  const isRed = isEveryTestWanted && unnamed > 0;
  const verdict = isRed ? `; ${unnamed} without a reason, and here every test must run` : "";
  return { text: [`${skipped.length} tests skipped${verdict}`, ...lines].join("\n"), isRed };
}

export default class Skips implements Reporter {
  #isPartial = false;

  onInit({ config }: Vitest): void {
    // By a pattern on the command line most tests are left out.
    this.#isPartial = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = skippedTests(modules);
    if (this.#isPartial || skipped.length === 0) return;
    const { text, isRed } = judgeSkips(skipped, process.env.FEDKM_EVERY_TEST === "1");
    console.log(text);
    if (isRed) process.exitCode = 1;
  }
}
