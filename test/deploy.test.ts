// What deploy/ ships is what the tools that use it accept: a unit with few rights, alerts that fire, a board of real metrics.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { runCommandLine } from "../cli/src/program.ts";
import { fakeConsole } from "../cli/test/fakeConsole.ts";
import { formatMetrics } from "../device/src/daemon/server.ts";
import { SERVICE_UNIT_FILE, serviceUnit } from "../device/src/daemon/serviceUnit.ts";
import { northStatus } from "../device/test/daemon/northStatus.ts";

const deploy = fileURLToPath(new URL("../deploy/", import.meta.url));
const shipped = (name: string) => readFileSync(join(deploy, name), "utf8");
const folder = mkdtempSync(join(tmpdir(), "fedkm-deploy-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return { code: status, said: `${stdout}${stderr}` };
};
const has = (command: string) => spawnSync(command, ["--version"]).error === undefined;

test("fedkm device install writes the unit of deploy/ with this program and folder, and says what is left to do", async () => {
  expect(shipped(SERVICE_UNIT_FILE)).toBe(serviceUnit("/opt/fedkm/node_modules/.bin/fedkm", "/var/lib/fedkm/north"));
  const console = fakeConsole();
  const state = join(folder, "devices", "north");
  expect(await runCommandLine(["device", "install", "--state", state, "--out", folder], console)).toBe(0);
  const unit = readFileSync(join(folder, SERVICE_UNIT_FILE), "utf8");
  expect(unit).toContain(`device run --state ${join(folder, "devices")}/%i $FEDKM_FLAGS\n`);
  expect(unit).toContain(`ReadWritePaths=${join(folder, "devices")}/%i\n`);
  expect(existsSync(join(folder, "devices"))).toBe(true);
  expect(console.said().stdout).toContain("systemctl daemon-reload && systemctl enable --now fedkm-device@north");
});

test("systemd finds no fault in the unit, and an exposure below 3.0", (context) => {
  context.skip(!has("systemd-analyze"), "there is no systemd-analyze here (Debian: systemd)");
  // The program need not be installed to look at its unit.
  const unit = join(folder, "fedkm-device@north.service");
  writeFileSync(unit, shipped(SERVICE_UNIT_FILE).replace("/opt/fedkm/node_modules/.bin/fedkm", process.execPath));
  expect(run("systemd-analyze", "verify", unit)).toEqual({ code: 0, said: "" });
  const { said } = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit);
  expect(Number(/exposure level for .*: ([\d.]+) /.exec(said)?.[1])).toBeLessThan(3);
});

test("promtool accepts the alerts; each fires for its fault, and none for a device that is well", (context) => {
  context.skip(!has("promtool"), "there is no promtool here (Debian: prometheus)");
  for (const name of ["alerts.yaml", "alerts.test.yaml"]) copyFileSync(join(deploy, name), join(folder, name));
  expect(run("promtool", "check", "rules", join(folder, "alerts.yaml"))).toMatchObject({ code: 0 });
  const tested = run("promtool", "test", "rules", join(folder, "alerts.test.yaml"));
  expect(tested).toMatchObject({ code: 0, said: expect.stringContaining("SUCCESS") });
  const alerts = Array.from(shipped("alerts.yaml").matchAll(/alert: (\w+)/g), ([, name]) => name);
  for (const name of alerts) expect(shipped("alerts.test.yaml").match(new RegExp(`${name}\\b`, "g"))).toHaveLength(2);
});

/** Lines of metrics as name and labels; what a link is called does not matter. */
function series(text: string): string[] {
  return Array.from(text.matchAll(/(fedkm_\w+)(?:\{(.*?)\})?(?= |')/g), ([, name, labels = ""]) => {
    const pairs = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, label, value]) => [label, value]);
    const own = pairs.filter(([label]) => !["job", "instance"].includes(label));
    return [name, ...own.map((pair) => (pair[0] === "link" ? "link" : pair.join("="))).sort()].join(" ");
  });
}

test("what alerts are tested with is what devices serve, label by label", () => {
  const { startedAt: since } = northStatus;
  const notices = (["silent", "waiting"] as const).map((cause) => {
    return { cause, link: cause === "silent" ? "south" : null, text: cause, since, until: null };
  });
  const served = series(formatMetrics({ ...northStatus, notices }).replaceAll(/^#.*$/gm, ""));
  const tested = series(
    Array.from(shipped("alerts.test.yaml").matchAll(/series: ('.*?')/g), ([, one]) => one).join("\n"),
  );
  expect(tested.length).toBeGreaterThan(30);
  expect(tested.filter((one) => !served.includes(one))).toEqual([]);
});

test("alerts and board name only metrics that devices serve", () => {
  const served = formatMetrics(northStatus);
  const { panels } = JSON.parse(shipped("grafana.json"));
  const asked = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
  const names = `${shipped("alerts.yaml")} ${asked.join(" ")}`.match(/\bfedkm_\w+/g) ?? [];
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) expect(served, name).toContain(`# TYPE ${name.replace(/_total$/, "")} `);
});
