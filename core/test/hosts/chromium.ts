// Chromium for tests in a browser. Where there is none, they are skipped; installChromium.ts says so, once.

import { type Browser, chromium } from "playwright-core";
import { test } from "vitest";
import { findChromium } from "./installChromium.ts";

// Nothing that calls home, draws or asks: tests need the engine only. Playwright makes a fresh profile and deletes it.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A test that needs launchChromium. A file in which all tests are skipped runs no set-up either. */
export const browserTest = test.skipIf(findChromium() === undefined);

export function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("only a browserTest has Chromium on the PATH");
  return chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: 600_000 });
}
