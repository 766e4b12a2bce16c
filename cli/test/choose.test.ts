// fedkm choose: k and alpha for files, as the library finds them.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { choose, communityData, complete, edges, randomStream, ring, toRows } from "@fedkm/core";
import { readTable } from "@fedkm/files";
import { fitCommandLine, linkDevices } from "@fedkm/tables";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";
import { xmlFault } from "./wellFormed.ts";

const folder = temporaryFolder();
folder.addExamples();
const files = ["north", "south"].map((name) => join(folder.path, "examples", `${name}.csv`));
const picture = join(folder.path, "choice.svg");
const args = ["choose", ...files, "--as-is", "--exclude", "plant", "--k", "4", "--out", picture];

test("choose prints both tables and draws both curves", async () => {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^k = 3, alpha = [\d.]+\n/);
  expect(stdout.match(/ chosen$/gm)).toHaveLength(2);
  expect(stdout).toMatch(/^k = 3: the most clusters that have a gap to all their neighbours\.$/m);
  expect(stdout).toMatch(/^Each device has clusters of its own, which are not judged together\.$/m);
  expect(stdout).toMatch(/judged by the rows that each device kept back for itself/);
  expect(xmlFault(readFileSync(picture, "utf8"))).toBeUndefined();
});

test("choose --json is what the library finds", async () => {
  const { stdout } = await outcome(...args, "--json");
  const datasets = await Promise.all(files.map(async (file) => (await readTable(file, { exclude: ["plant"] })).points));
  const { graph, groups, ...found } = choose(datasets, complete(2), { largestK: 4, seed: 1, weighting: "sample" });
  expect([graph, groups]).toEqual([complete(2), [{ devices: [0, 1], k: 3 }]]);
  expect(JSON.parse(stdout)).toEqual({
    ...JSON.parse(JSON.stringify(found)),
    groups: [{ devices: ["north", "south"], k: 3 }],
    warnings: [],
    picture,
    command: `fedkm fit ${files.join(" ")} --k ${found.fitted} --alpha ${found.alpha} --as-is --exclude plant`,
  });
});

test.each([
  ["blobs", (c: number) => [9 * c, 7 * c * c], 3],
  ["even", () => [0, 0], 1],
] as const)(
  "fit and choose say the same k and verdict of %s, and fit says how it was asked",
  async (name, centre, k) => {
    const draw = randomStream(1, name);
    const rows = Array.from({ length: 240 }, (_, r) =>
      centre(r % 3)
        .map((x) => (x + 2 * draw()).toFixed(3))
        .join(","),
    );
    const file = folder.file(`${name}.csv`, `x,y\n${rows.join("\n")}\n`);
    const [chosen, counted] = [`${name}-counted`, `${name}-asked`].map((out) => join(folder.path, out));
    const fitted = JSON.parse((await outcome("fit", file, "--out", chosen, "--json")).stdout);
    const choice = JSON.parse((await outcome("choose", file, "--out", picture, "--json")).stdout);
    expect([fitted.options.k, fitted.candidates]).toEqual([choice.fitted, choice.clusters.candidates]);
    expect([choice.k, choice.verdict]).toEqual([k, k === 1 ? undefined : "clear"]);
    const words = k === 1 ? "One cluster is all rows" : "They are clearly apart";
    expect(readFileSync(join(chosen, "report.html"), "utf8")).toContain(words);
    expect(fitted.decisions.at(-1)).toMatch(
      k === 1 ? /no gap can be shown at any k\. A larger k divides/ : /^k = 3: the most/,
    );
    expect(fitted.command).toContain(`fedkm fit ${file} --k ${k} `);
    await outcome(...fitted.command.split(" ").slice(1), "--out", counted);
    const model = (out: string) => readFileSync(join(out, "model.json"), "utf8");
    expect(model(counted)).toBe(model(chosen));
  },
);

test("choose names groups of devices that have other clusters, and fit runs exactly what it proposes", async () => {
  const { datasets } = communityData(3, 60, 5, 8);
  const grouped = datasets.map((own, i) => {
    const rows = toRows(own).map((row) => row.join(","));
    return folder.file(`group-${i}.csv`, `x,y\n${rows.join("\n")}\n`);
  });
  const words = ["choose", ...grouped, "--as-is", "--graph", "ring", "--out", picture];
  const { stdout } = await outcome(...words);
  expect(stdout).toMatch(/^k = 3 in each of 2 groups of devices, alpha = [\d.]+\n/);
  expect(stdout).toMatch(/^Group 2, 3 clusters: group-3, group-4, group-5\.$/m);
  const { command, groups, alpha } = JSON.parse((await outcome(...words, "--json")).stdout);
  expect(groups.length).toBeGreaterThanOrEqual(2);
  expect(command).toMatch(/ --graph alike:ring$/);
  const out = join(folder.path, "grouped");
  await outcome(...command.split(" ").slice(1), "--out", out);
  const model = JSON.parse(readFileSync(join(out, "model.json"), "utf8"));
  const chosen = choose(datasets, ring(6), { seed: 1, weighting: "sample" });
  expect(model.options).toMatchObject({ k: 3, alpha, graph: "alike:ring" });
  const links = Array.from(edges(chosen.graph), ([i, j]) => [`group-${i}`, `group-${j}`]);
  expect(model.links.map((own: { devices: string[] }) => own.devices)).toEqual(links);
  expect((await outcome("verify", join(out, "model.json"), ...grouped)).code).toBe(0);
  // A choice that is asked for the links of another finds its own.
  expect((await outcome(...words.map((word) => (word === "ring" ? "alike:ring" : word)))).stdout).toBe(stdout);
  await expect(linkDevices("alike", ["here"], datasets.slice(0, 1), { seed: 1 })).rejects.toThrow(
    "--graph alike must be used with --k",
  );
});

test("choose says of its clusters what fit then says, here of one file", async () => {
  const rows = Array.from({ length: 300 }, (_, r) => {
    const noise = (n: number) => Math.sin(12.9898 * (r + 1) * n) * 43758.5453;
    const part = (n: number) => noise(n) - Math.floor(noise(n)) + (noise(n + 7) - Math.floor(noise(n + 7)));
    return `${(r % 3) * 6 + part(1)},${part(2)}`;
  });
  const file = folder.file("apart.csv", `x,y\n${rows.join("\n")}\n`);
  const { stdout } = await outcome("choose", file, "--as-is", "--json", "--out", picture);
  const { k, verdict, command } = JSON.parse(stdout);
  expect([k, verdict]).toEqual([3, "clear"]);
  // There is nobody to be coupled to.
  const words = (await outcome("choose", file, "--as-is", "--out", picture)).stdout;
  expect([words, readFileSync(picture, "utf8"), command].join("\n")).not.toMatch(
    /alpha|kept back|couple|between devices/,
  );
  const out = join(folder.path, "as-chosen");
  const fitting = [...command.split(" ").slice(1), "--out", out];
  expect((await outcome(...fitting)).stdout).toMatch(/^They are clearly apart/m);
  expect(readFileSync(join(out, "report.html"), "utf8")).toMatch(/They are clearly apart/);
  expect(JSON.parse((await outcome(...fitting, "--json")).stdout).verdict).toBe(verdict);
});

test("choose ends with a command that a shell runs as it stands", async () => {
  const odd = ["north", "south"].map((name) =>
    folder.file(`${name}'s rows.csv`, readFileSync(join(folder.path, "examples", `${name}.csv`))),
  );
  const flags = "--exclude plant --scale standard --graph ring --missing drop --weighting device --seed 4".split(" ");
  const { stdout } = await outcome("choose", ...odd, ...flags, "--k", "4", "--out", picture);
  const command = stdout.trimEnd().split("\n").at(-1) ?? "";
  expect(command).toMatch(
    /^fedkm fit '.*' '.*' --k 3 --alpha [\d.]+ --exclude plant --missing drop --graph ring --scale standard --weighting device --seed 4$/,
  );
  // The shell takes the line apart; each word is shown on a line of its own.
  const shown = spawnSync("sh", ["-c", `fedkm() { printf '%s\\n' "$@"; }; ${command}`], { encoding: "utf8" });
  const words = shown.stdout.trimEnd().split("\n");
  expect(words.slice(0, 3)).toEqual(["fit", ...odd]);
  const fitted = await outcome(...words, "--out", join(folder.path, "pasted"), "--json");
  expect(JSON.parse(fitted.stdout).options).toMatchObject({ k: 3, weighting: "device", seed: 4 });
});

test("choose names in its command what a shell would take for something else", () => {
  const options = { missing: "refuse", graph: "complete", scale: "none", weighting: "sample", seed: 1 } as const;
  const command = fitCommandLine(["-odd.tsv", "a b.csv"], { ...options, delimiter: "\t", k: 2, alpha: 0.3 });
  expect(command).toBe("fedkm fit ./-odd.tsv 'a b.csv' --k 2 --alpha 0.3 --delimiter tab --scale none");
  expect(fitCommandLine(["-"], { ...options, k: 2, alpha: 1 })).toBe("fedkm fit - --k 2 --alpha 1 --scale none");
});

test("choose says that its answer stands at the limit, and what alpha 0 means", async () => {
  const limited = await outcome(...args.map((word) => (word === "4" ? "2" : word)));
  expect(limited.stdout).toMatch(/All are apart at 2, the largest k that was tried/);
  const shifted = folder.file("shifted.csv", "x\n0\n0.1\n0.2\n0.1\n0\n9\n9.1\n9.2\n9.1\n9\n");
  const other = folder.file("other.csv", "x\n50\n50.1\n50.2\n50.1\n50\n70\n70.1\n70.2\n70.1\n70\n");
  const alone = await outcome("choose", shifted, other, "--out", picture);
  expect(alone.stdout).toMatch(/alpha = 0\n/);
  expect(alone.stdout).toMatch(
    /each device stays alone: cluster 1 of one device need not be\s+cluster\s+1\s+of\s+another/,
  );
  const all = await outcome("choose", shifted, other, "--judge", "all", "--out", picture);
  expect(all.stdout).toMatch(/judged by the rows that all devices kept back/);
});
