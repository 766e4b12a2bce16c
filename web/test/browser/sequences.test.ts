// Random sequences of what a person does to the playground: nothing goes wrong, and what is shown in the end is what a fresh
// page shows at the same address.

import fc from "fast-check";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { runs, testSeed } from "../../../test/runs.ts";
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

/** Whether the reader waits for the next frame. */
type Seen = Action & { readonly isSeen?: boolean };

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

const done: fc.Arbitrary<Action> = fc.oneof(
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
const action: fc.Arbitrary<Seen> = fc.tuple(done, fc.boolean()).map(([one, isSeen]) => ({ ...one, isSeen }));

/** In the page, so that a sequence takes no longer than what it asks for. What cannot be done at the moment is left. */
const perform = `(async (actions) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  const labelled = (name) => {
    const named = document.querySelector('[aria-label="' + name + '"]');
    const label = [...document.querySelectorAll("label")].find((own) => own.textContent.trim() === name);
    return named ?? (label && (label.control ?? document.getElementById(label.htmlFor)));
  };
  const happen = (control, ...events) => events.forEach((name) => control.dispatchEvent(new Event(name, { bubbles: true })));
  for (const action of actions) {
    if ("press" in action) {
      const button = [...document.querySelectorAll("button")].find((own) => own.textContent.trim().replace(/^\\d\\. /, "") === action.press);
      if (button === undefined) throw new Error("no button " + action.press);
      const travelled = new Promise((done, fail) => {
        addEventListener("popstate", done, { once: true });
        setTimeout(() => fail(new Error(action.press + " leads nowhere")), 30000);
      });
      travelled.catch(() => undefined);
      const isTravel = !button.disabled && ["Undo", "Redo"].includes(action.press);
      button.click();
      await (isTravel ? travelled : frame());
      continue;
    }
    const control = labelled(action.select ?? action.type ?? action.slide ?? action.tick);
    if (control === undefined && action.type === "points each") continue;
    if (control.disabled) continue;
    if ("tick" in action) control.click();
    else if ("slide" in action) {
      control.value = Math.round(action.share * Number(control.max));
      happen(control, "input", "change");
    } else {
      control.value = action.value;
      happen(control, "input", "change");
    }
    // Some at once, some after what they see.
    if (action.isSeen) await frame();
  }
})`;

/** Once all that was asked for is shown: measures, every pixel of panels and links, and the map; or why there is nothing. */
const settle = `new Promise((done, fail) => {
  setTimeout(() => fail(new Error("nothing settles at " + location.hash + ", " + document.querySelector(".round")?.textContent)), 30000);
  const pixels = (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let hash = 0;
    for (const pixel of new Uint32Array(data.buffer)) hash = (Math.imul(hash, 31) + pixel) | 0;
    return [canvas.width, canvas.height, hash].join(" ");
  };
  const look = () => {
    const refusal = document.querySelector("p[role=alert]");
    const panels = document.querySelector('.sides[aria-busy="false"]');
    const step = [...document.querySelectorAll("button")].find((own) => own.textContent === "Step");
    const isFollowed = location.hash.includes("round=end") && !step.disabled;
    if (refusal !== null && panels === null) return done(refusal.textContent);
    if (panels === null || isFollowed || document.fonts.status !== "loaded") return requestAnimationFrame(look);
    document.activeElement?.blur();
    requestAnimationFrame(() => requestAnimationFrame(() => done([
      document.querySelector(".round").textContent,
      ...[...document.querySelectorAll("output[data-value]")].map((own) => own.dataset.value),
      ...[...document.querySelectorAll(".sides canvas, .map canvas")].map(pixels),
      document.querySelector(".map svg").innerHTML,
    ].join("\\n"))));
  };
  look();
})`;

/** Of some also a picture of what is drawn over all that. */
async function shown(page: Page, isTaken: boolean): Promise<string> {
  const drawn = String(await page.evaluate(settle));
  return isTaken ? `${drawn}\n${(await page.locator(".sides").screenshot()).toString("base64")}` : drawn;
}

const BEGINNING = "data=skew&devices=4&graph=ring&seed=4&alpha=0.1&round=end";

test("20 actions in any order end at what a fresh page shows, without an error", async () => {
  const { page, errors } = await site.open(BEGINNING);
  const numRuns = Number(process.env.FEDKM_SEQUENCES ?? runs({ short: 5, long: 100 }));
  let opened = 0;
  // Another document each time: an address that differs behind # only would keep the page.
  const open = (hash: string) => page.goto(`${site.origin}playground.html?${opened++}#${hash}`);
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 20 }), async (actions) => {
      await open(BEGINNING);
      await page.evaluate(`${perform}(${JSON.stringify(actions)})`);
      const isTaken = opened % 20 === 1;
      const drawn = await shown(page, isTaken);
      const hash = new URL(page.url()).hash.slice(1);
      await open(hash);
      expect((await shown(page, isTaken)) === drawn, hash).toBe(true);
      expect(errors, hash).toEqual([]);
      if (opened % 200 === 0) console.log(`${opened / 2} sequences`);
    }),
    { numRuns, seed: testSeed, endOnFailure: true },
  );
  await page.close();
}, 3_600_000);
