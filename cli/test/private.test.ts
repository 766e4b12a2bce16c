// Private studies on the command line: what study init writes, and whether device init says what a device gains.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { paperData } from "@fedkm/core";
import { parseStudy, pointsAsCsv } from "@fedkm/device";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const study = join(folder.path, "study.yaml");
/** Of each device, in the model that fit wrote to a folder. */
function centroidsIn(out: string): number[][][] {
  const { devices } = JSON.parse(readFileSync(join(folder.path, out, "model.json"), "utf8"));
  return devices.map(({ centroids }: { centroids: number[][] }) => centroids);
}

const asked = ["study", "init", "--feature", "x:-13:13", "y:-13:13", "--out"];

test("study init --privacy private writes the budget, and needs the rows of a typical device", async () => {
  expect((await outcome(...asked, study, "--privacy", "private")).stderr).toBe(
    "fedkm: --privacy private needs --typical-rows\n",
  );
  const { code, stdout } = await outcome(...asked, study, "--privacy", "private", "--typical-rows", "800");
  expect(code).toBe(0);
  expect(stdout).toMatch(/privacy is private: everything sent about one version/);
  expect(parseStudy(readFileSync(study, "utf8"))).toMatchObject({ epsilon: 1, delta: 1e-5, lifetimeEpsilon: 4 });
  expect((await outcome(...asked, join(folder.path, "other.yaml"), "--epsilon", "2")).stderr).toBe(
    "fedkm: --epsilon needs --privacy private, got guarded\n",
  );
});

test("device init says from how many devices on a device gains, and refuses one whose clusters drown", async () => {
  const init = (rows: number, ...more: string[]) => {
    const text = pointsAsCsv(parseStudy(readFileSync(study, "utf8")), paperData("iso", 1, rows, 1).datasets[0]);
    const data = folder.file(`${rows}.csv`, text);
    const state = join(folder.path, `device-${rows}`);
    return outcome("device", "init", "--study", study, "--data", data, "--state", state, ...more);
  };
  expect((await init(800)).stdout).toMatch(/\nprivate: with \d devices or more that have the same clusters the common/);
  const { code, stderr } = await init(60);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^fedkm: taking part needs .* --accept noise: the clusters of these rows would drown in the noise/,
  );
  expect((await init(60, "--accept", "noise")).code).toBe(0);
});

test("shared clusters are private with --devices, and owners are told before they take part what the noise costs", async () => {
  const file = join(folder.path, "shared.yaml");
  const shared = [...asked, file, "--clusters", "shared", "--privacy", "private", "--typical-rows"];
  const needed = await outcome(...shared, "200");
  expect(needed.stderr).toBe("fedkm: --privacy private with --clusters shared needs --devices\n");
  const { stdout } = await outcome(...shared, "200", "--devices", "10");
  const words = "with 10 devices of 200 rows the noise costs next to nothing; a cluster of fewer than 50 rows in all";
  expect(stdout).toContain(`\n${words}`);
  expect(stdout).toContain(`before devices can use ${file} it must name its founders (fedkm device key prints`);
  expect(parseStudy(readFileSync(file, "utf8"))).toMatchObject({ clusters: "shared", devices: 10, epsilon: 1 });
  const founded = join(folder.path, "founded.yaml");
  const init = (name: string, of = founded, ...more: string[]) => {
    const text = pointsAsCsv(parseStudy(readFileSync(file, "utf8")), paperData("iso", 1, 200, 1).datasets[0]);
    const data = folder.file("shared.csv", text);
    const state = join(folder.path, name);
    return outcome("device", "init", "--study", of, "--data", data, "--state", state, ...more);
  };
  expect((await init("shared-200", file)).stderr).toMatch(
    /^fedkm: founders must be named with clusters "shared" and privacy/,
  );
  const keys: string[] = [];
  for (let n = 0; n < 10; n++) {
    const state = join(folder.path, n === 0 ? "shared-200" : `founder-${n}`);
    keys.push((await outcome("device", "key", "--state", state)).stdout.trim());
    // A key that is there stays.
    expect((await outcome("device", "key", "--state", state)).stdout.trim()).toBe(keys[n]);
  }
  const list = folder.file("keys.txt", `${keys.slice(1).join("\n")}\n`);
  const drafted = (out: string, rows: string, ...founders: string[]) =>
    outcome(...asked, out, ...shared.slice(asked.length + 1), rows, "--devices", "10", "--founders", ...founders);
  expect((await drafted(founded, "200", list)).stderr).toMatch(/^fedkm: founders must be a list of 10 to 256 keys/);
  expect((await drafted(founded, "200", list, "nobody")).stderr).toMatch(/^fedkm: a founder must be a peer id/);
  expect((await drafted(founded, "200", list, keys[0])).code).toBe(0);
  expect(parseStudy(readFileSync(founded, "utf8")).founders).toEqual([...keys].sort());
  expect((await outcome("study", "check", founded)).stdout).toContain("\n10 founders; 2 members admit another one\n");
  const begun = (await init("shared-200")).stdout;
  expect(begun).not.toContain("no founder");
  expect((await init("shared-201")).stdout).toMatch(/\nit is no founder of the study: its rows count when 2 members/);
  const [member, newcomer] = [200, 201].map((rows) => join(folder.path, `shared-${rows}`));
  const key = (await outcome("device", "key", "--state", newcomer)).stdout.trim();
  expect((await outcome("device", "admit", key, "250", "--state", member)).stdout).toBe(
    `1 of 2 members have said so; the others run fedkm device admit ${key}\n`,
  );
  expect((await outcome("device", "admit", key, "--state", newcomer)).stderr).toMatch(/must be a member itself/);
  expect((await outcome("device", "remove", keys[0], "--state", member)).stdout).toBe(
    `${keys[0]} is no member any more: its rows do not count, where the statement has arrived, from device to device\n`,
  );
  expect(begun).toContain(`\nprivate: ${words}`);
  expect(begun).toMatch(/\nnext: fedkm device link INVITE .* \(on both sides, with 2 neighbours or more\)\n/);
  const smaller = async (rows: string, ...more: string[]) => {
    const out = join(folder.path, `founded-${rows}.yaml`);
    await drafted(out, rows, list, keys[0]);
    return init(`shared-${rows}-${more.length}`, out, ...more);
  };
  expect((await smaller("20")).stdout).toMatch(/\nprivate: .* makes clusters some percent worse/);
  expect((await smaller("8")).stderr).toMatch(/^fedkm: taking part needs .* --accept noise: .* can hide clusters/);
  expect((await smaller("8", "--accept", "noise")).code).toBe(0);
  expect((await smaller("3", "--accept", "noise")).stderr).toMatch(
    /^fedkm: the study needs a larger epsilon, more rows or fewer clusters: .* one mean for all rows/,
  );
});

test("fit simulates private devices that share clusters, and refuses what has no meaning", async () => {
  const files = paperData("iso", 4, 200, 1).datasets.map((rows, i) =>
    folder.file(`fit-${i}.csv`, pointsAsCsv(parseStudy(readFileSync(study, "utf8")), rows)),
  );
  const fit = (...more: string[]) =>
    outcome("fit", "--as-is", ...files, "--k", "3", "--out", join(folder.path, "results"), "--json", ...more);
  const { code, stdout } = await fit("--method", "shared", "--privacy", "private", "--epsilon", "2");
  expect(code).toBe(0);
  const { options, warnings } = JSON.parse(stdout);
  expect(options).toMatchObject({ method: "shared", privacy: "private", epsilon: 2 });
  expect(warnings.join()).toContain("only the centroids of devices are private; sizes, means, labels and the report");
  const centroids = centroidsIn("results");
  expect(centroids[0]).toHaveLength(3);
  expect(centroids[0]).toEqual(centroids[3]);
  expect((await fit("--privacy", "private")).stderr).toBe(
    "fedkm: --privacy private must be used with --method shared or a study, got --method fedkm\n",
  );
  expect((await fit("--method", "shared", "--epsilon", "2")).stderr).toBe(
    "fedkm: --epsilon must be used with --privacy private, got --privacy open\n",
  );
});

test("--person-column protects whole persons: study init says so, and fit and devices read whose each row is", async () => {
  const file = join(folder.path, "persons.yaml");
  const shared = ["--clusters", "shared", "--privacy", "private", "--typical-rows", "200", "--devices", "4"];
  expect((await outcome(...asked, file, "--person-column", "patient")).stderr).toBe(
    "fedkm: --person-column needs --privacy private, got guarded\n",
  );
  const personal = ["--privacy", "private", "--typical-rows", "200", "--person-column", "patient"];
  const own = await outcome(...asked, join(folder.path, "own.yaml"), ...personal);
  expect(own.stdout).toMatch(
    /\nwith 200 persons on a device the noise makes clusters some percent worse; .* on a device/,
  );
  const { stdout } = await outcome(...asked, file, ...shared, "--epsilon", "2", "--person-column", "patient");
  expect(stdout).toContain("for adding or removing all rows that a person has on one device");
  expect(stdout).toMatch(/\nwith 4 devices of 200 persons the noise costs next to nothing; .* persons in all/);
  expect(parseStudy(readFileSync(file, "utf8"))).toMatchObject({ protects: "persons", personColumn: "patient" });
  expect((await outcome("study", "check", file)).stdout).toContain("all rows that a person has on one device");

  const { datasets } = paperData("iso", 4, 200, 1);
  /** Everybody's row as often as `times` says, which changes nothing where persons are protected. */
  const files = (name: string, times: (row: number) => number, person = (row: number) => `p${row}`) =>
    datasets.map(({ data, rows }, i) => {
      const lines = Array.from({ length: rows }, (_, r) =>
        Array.from({ length: times(r) }, () => `${data[2 * r]},${data[2 * r + 1]},${person(r)}`),
      );
      return folder.file(`${name}-${i}.csv`, `x,y,patient\n${lines.flat().join("\n")}\n`);
    });
  const fit = (own: readonly string[], out: string) =>
    outcome("fit", ...own, "--study", file, "--out", join(folder.path, out));
  expect(
    (
      await fit(
        files("once", () => 1),
        "once",
      )
    ).code,
  ).toBe(0);
  expect(
    (
      await fit(
        files("often", (r) => (r < 20 ? 64 : 1)),
        "often",
      )
    ).code,
  ).toBe(0);
  const [[once], [often]] = [centroidsIn("once"), centroidsIn("often")];
  expect(once).toHaveLength(3);
  // The noise of other rows is another one, so the answers are near each other and not the same.
  for (const [c, centroid] of once.entries()) {
    for (const [f, value] of centroid.entries()) expect(Math.abs(value - often[c][f])).toBeLessThan(0.5);
  }
  const someone = (r: number) => (r === 5 ? "" : "p");
  const nameless = await fit(
    files("nameless", () => 1, someone),
    "nameless",
  );
  expect(nameless.code).not.toBe(0);
  expect(nameless.stderr).toMatch(/line 7, column "patient"/);

  const init = (data: readonly string[], state: string) =>
    outcome("device", "init", "--study", file, "--data", ...data, "--state", join(folder.path, state));
  expect((await init([folder.file("bare.csv", "x,y\n1,2\n")], "bare")).stderr).toMatch(/patient/);
  expect((await init(files("device", () => 1).slice(0, 2), "founderless")).stderr).toMatch(
    /^fedkm: founders must be named/,
  );
});
