// The pages in Firefox, which is driven over WebDriver BiDi: they open without an error in the console, and sliders act.
// Where there is no Firefox, the tests are skipped.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test as plainTest } from "vitest";
import { WebSocket } from "ws";
import { openSite, type Site } from "./site.ts";

const program = ["firefox-esr", "firefox"].find((name) => spawnSync(name, ["--version"]).status === 0);
const test = plainTest.skipIf(program === undefined);

interface Answer {
  readonly id?: number;
  readonly type: string;
  readonly result?: unknown;
  readonly params?: { readonly level?: string; readonly text?: string };
}

let site: Site;
let profile: string;
let firefox: ChildProcess;
let socket: WebSocket;
let context: string;
let asked = 0;
const waiting = new Map<number, (answer: Answer) => void>();
const errors: string[] = [];

async function ask<Result>(method: string, params: object): Promise<Result> {
  const id = ++asked;
  const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
  socket.send(JSON.stringify({ id, method, params }));
  const answer = await answered;
  if (answer.type !== "success") throw new Error(`${method}: ${JSON.stringify(answer)}`);
  return answer.result as Result;
}

/** The value of an expression in the page. */
async function evaluate(expression: string): Promise<unknown> {
  const asking = { expression, target: { context }, awaitPromise: true };
  const { result } = await ask<{ result?: { value?: unknown } }>("script.evaluate", asking);
  return result?.value;
}

/** Opens a page, and waits until this is true there. */
async function open(path: string, ready: string): Promise<void> {
  // The page before may say something while it is left.
  await ask("browsingContext.navigate", { context, url: "about:blank", wait: "complete" });
  errors.length = 0;
  await ask("browsingContext.navigate", { context, url: `${site.origin}${path}`, wait: "complete" });
  await expect.poll(() => evaluate(ready), { timeout: 30_000 }).toBe(true);
}

beforeAll(async () => {
  if (program === undefined) return;
  site = await openSite();
  profile = mkdtempSync(join(tmpdir(), "fedkm-firefox-"));
  const args = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"];
  firefox = spawn(program, args, { env: { ...process.env, HOME: profile } });
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    firefox.stderr?.on("data", (text) => {
      said += text;
      const [, found] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    firefox.once("exit", () => reject(new Error(said)));
  });
  socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.on("message", (data) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else if (answer.params?.level === "error") errors.push(answer.params.text ?? "");
  });
  await ask("session.new", { capabilities: {} });
  await ask("session.subscribe", { events: ["log.entryAdded"] });
  ({ context } = await ask<{ context: string }>("browsingContext.create", { type: "tab" }));
}, 120_000);

afterAll(async () => {
  if (program === undefined) return;
  socket?.close();
  const ended = new Promise((resolve) => firefox.once("exit", resolve));
  firefox.kill();
  await ended;
  await site?.close();
  rmSync(profile, { recursive: true, force: true });
});

test("the article draws its figures, and a slider changes one", async () => {
  await open("index.html", "document.querySelectorAll('svg > *').length > 50");
  await evaluate("document.querySelector('#spring').scrollIntoView()");
  const status = () => evaluate("document.querySelector('#spring .status').textContent");
  await expect.poll(status).not.toBe("");
  const before = await status();
  await evaluate(`(() => { const slider = document.querySelector("#spring input[type=range]"); slider.value = slider.max;
    slider.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  await expect.poll(status).not.toBe(before);
  expect(errors).toEqual([]);
}, 60_000);

test("the playground draws, and alpha and the moment act", async () => {
  await open("playground.html", "document.querySelector('.sides[aria-busy=false]') !== null");
  const slide = (name: string, value: number) =>
    evaluate(`(() => { const slider = document.querySelector('[aria-label="${name}"]'); slider.value = ${value};
      slider.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  await slide("alpha", 0);
  await expect.poll(() => evaluate("location.hash")).toContain("alpha=0");
  await slide("alpha", 60);
  await expect.poll(() => evaluate("document.querySelector('[aria-label=Moment]').max > 5")).toBe(true);
  await slide("Moment", 1);
  await expect.poll(() => evaluate("document.querySelector('.round').textContent")).toContain("round 1,");
  expect(errors).toEqual([]);
}, 60_000);

test.each(["dashboard.html", "docs/index.html", "docs/start/analyst.html"])(
  "%s opens without an error",
  async (path) => {
    await open(path, "document.querySelector('h1') !== null");
    expect(errors).toEqual([]);
  },
  60_000,
);
