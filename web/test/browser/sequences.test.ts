// Random sequences of what a person does to the playground: nothing goes wrong, and what is shown in the end is what a fresh
// page shows at the same address.

import fc from "fast-check";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { propertyParameters } from "../../../test/runs.ts";
import { choices } from "../../src/engine/setup.ts";
import { stops } from "../../src/playground/stops.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

/** A control by its label, or a button by its name, and what is done to it. */
type Action =
  | { readonly select: string; readonly value: string }
  | { readonly type: string; readonly value: string }
  | { readonly slide: string; readonly share: number }
  | { readonly tick: string }
  | { readonly press: string };

const selects = Object.entries({
  data: choices.data.filter((name) => name !== "own"),
  graph: choices.graph,
  method: choices.method,
  "beside it": choices.versus,
  rules: choices.preset,
  start: choices.start,
  order: choices.schedule,
  penalty: choices.penalty,
  privacy: choices.privacy,
}).map(([select, values]) => fc.constantFrom(...values).map((value) => ({ select, value })));

const typed = (type: string, values: readonly string[]) => fc.constantFrom(...values).map((value) => ({ type, value }));

const buttons = [
  ...["Step", "Step", "Back", "Undo", "Undo", "Redo"],
  ...["Start wrong", "Stop", "Let it lie", "Let it leave", "Cut the link", "Link them"],
  ...stops.map(({ title }) => title),
];

const action: fc.Arbitrary<Action> = fc.oneof(
  ...selects,
  typed("devices", ["2", "3", "7", "12", "25", "0", "x"]),
  typed("points each", ["3", "10", "60"]),
  typed("clusters k", ["1", "2", "3", "5"]),
  typed("seed", ["1", "2", "9"]),
  typed("density", ["0", "0.4", "1"]),
  fc.record({ slide: fc.constantFrom("alpha", "alpha", "Moment"), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constantFrom("leave out liars (robust)", "all begin anew when somebody leaves").map((tick) => ({ tick })),
  fc.constantFrom(...buttons).map((press) => ({ press })),
);

/** What cannot be done at the moment is left, as by a person. */
async function act(page: Page, done: Action): Promise<void> {
  if ("press" in done) {
    const button = page.getByRole("button", {
      name: done.press,
      exact: !stops.some(({ title }) => title === done.press),
    });
    if (await button.first().isEnabled()) await button.first().click();
    return;
  }
  const label = "select" in done ? done.select : "type" in done ? done.type : "slide" in done ? done.slide : done.tick;
  const control = page.getByLabel(label, { exact: true });
  if ((await control.count()) === 0 || !(await control.isEnabled())) return;
  if ("select" in done) await control.selectOption(done.value);
  else if ("type" in done) {
    await control.fill(done.value);
    await control.press("Tab");
  } else if ("slide" in done) {
    const most = Number(await control.getAttribute("max"));
    await control.fill(String(Math.round(done.share * most)));
  } else await control.click();
}

/** Panels, map and measures, once what was asked for is shown; or why there is none. */
async function shown(page: Page): Promise<string> {
  const panels = page.locator('.sides[aria-busy="false"]');
  const refusal = page.locator("p[role=alert]");
  await expect
    .poll(async () => (await panels.count()) + (await refusal.count()), { timeout: 60_000 })
    .toBeGreaterThan(0);
  if ((await panels.count()) === 0) return (await refusal.textContent()) ?? "";
  // The end of a run that takes long is followed until it is reached.
  let before = "";
  await expect
    .poll(
      async () => {
        const now = `${page.url()} ${await page.locator(".round").textContent()}`;
        const isSame = now === before;
        before = now;
        return isSame;
      },
      { timeout: 60_000, interval: 400 },
    )
    .toBe(true);
  await page.locator("h1").click();
  await page.mouse.move(0, 0);
  const parts = await Promise.all([page.locator(".sides"), page.locator(".map")].map((part) => part.screenshot()));
  const measures = await page.locator("output[data-value]").evaluateAll((all) => all.map((one) => one.dataset.value));
  return [...measures, ...parts.map((part) => part.toString("base64"))].join("\n");
}

test("20 actions in any order end at what a fresh page shows, without an error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 20 }), async (actions) => {
      const { page, errors } = await site.open("data=skew&devices=4&graph=ring&seed=4&alpha=0.1&round=end");
      for (const done of actions) await act(page, done);
      const drawn = await shown(page);
      const fresh = await site.openFile(`playground.html${new URL(page.url()).hash}`);
      const again = await shown(fresh.page);
      await Promise.all([page.close(), fresh.page.close()]);
      expect(errors).toEqual([]);
      expect(drawn === again, new URL(page.url()).hash).toBe(true);
    }),
    { ...propertyParameters({ short: 3, long: 15 }), endOnFailure: true },
  );
}, 3_600_000);
