// The gates of CI are shut for a planted violation of each, and open for the tree as it is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { apiFaults, commentFaults, integrityFaults, licenceFaults, sizeFaults } from "./gates.mjs";
import { root } from "./imports.ts";
import { judgeSkips } from "./skips.ts";

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const withEntry = (name: string, entry: Record<string, unknown>) => ({
  ...lock,
  packages: { ...lock.packages, [`node_modules/${name}`]: { version: "1.0.0", ...entry } },
});
const HASH = `sha512-${"a".repeat(86)}==`;

describe("licences", () => {
  test("of everything that users install are of the list", () => expect(licenceFaults(lock)).toEqual([]));

  test.each(["GPL-3.0-only", "AGPL-3.0", "SSPL-1.0", "UNLICENSED", "MIT AND GPL-2.0-only", undefined])(
    "%s is refused, unless the package stays here",
    (license) => {
      const entry = { integrity: HASH, ...(license !== undefined && { license }) };
      expect(licenceFaults(withEntry("planted", entry))).toEqual([
        `planted@1.0.0 must have a licence of the list in test/gates.mjs, got ${license ?? "no licence"}`,
      ]);
      expect(licenceFaults(withEntry("planted", { ...entry, dev: true }))).toEqual([]);
    },
  );

  test.each(["MIT", "(GPL-2.0-only OR MIT)", "Apache-2.0 OR MIT"])("%s is taken", (license) => {
    expect(licenceFaults(withEntry("planted", { license, integrity: HASH }))).toEqual([]);
  });
});

describe("hashes", () => {
  test("stand in the lock for every package that the registry serves", () => expect(integrityFaults(lock)).toEqual([]));

  test.each([undefined, "", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", HASH.slice(0, -3)])("%s is refused", (integrity) => {
    expect(integrityFaults(withEntry("planted", { ...(integrity !== undefined && { integrity }) }))).toEqual([
      "planted@1.0.0 must have a SHA-512 in package-lock.json; npm install writes it",
    ]);
  });

  test("are missing only for packages of other platforms", () => {
    expect(integrityFaults(withEntry("planted-win32-x64", { optional: true, cpu: ["x64"] }))).toEqual([]);
    expect(integrityFaults(withEntry("planted", { optional: true }))).toHaveLength(1);
  });
});

describe("the record of public names", () => {
  const before = ". fit: declare function fit(k: number): Model;\n. Model: interface Model { k: number; }\n";
  test("is passed as it is", () => expect(apiFaults("core", before, before)).toEqual([]));

  test.each([
    ["another type", before.replace("k: number):", "k: string):")],
    ["a name less", before.replace(/^.*\n/, "")],
    ["a name more", `${before}. more: declare const more: 1;\n`],
  ])("is not passed with %s", (_, after) => {
    const [fault] = apiFaults("core", before, after);
    expect(fault).toMatch(/^the public API of core must be as test\/api\/core\.txt says; npm run api writes it again/);
  });
});

describe("comments", () => {
  const named = (comment: string, isInternal = false) => ({ name: "FitOptions", package: "core", comment, isInternal });
  const option = { name: "FitOptions.k", comment: "Clusters.", isInternal: false };
  test("are there on names and options", () => {
    expect(commentFaults([{ ...named("Options of fit."), options: [option] }])).toEqual([]);
    expect(commentFaults([{ ...named("", true), options: [] }])).toEqual([]);
  });

  test("that are missing are named", () => {
    const silent = { ...named(""), options: [{ ...option, comment: "" }] };
    expect(commentFaults([silent, silent])).toEqual(
      ["FitOptions", "FitOptions.k"].map(
        (name) => `${name} of core must have a documentation comment, which editors show`,
      ),
    );
  });
});

describe("sizes", () => {
  test.each([
    [99, 0],
    [100, 0],
    [101, 1],
    [Number.NaN, 1],
  ])("%d kB of 100 is a fault: %d", (size, faults) => {
    expect(sizeFaults({ pages: size }, { pages: 100 })).toHaveLength(faults);
  });

  test("without a budget, and budgets of what is not there, are faults", () => {
    expect(sizeFaults({ pages: 1 }, {})).toHaveLength(1);
    expect(sizeFaults({}, { pages: 1 })).toHaveLength(1);
  });
});

describe("skipped tests", () => {
  const named = { file: "a.test.ts", name: "one", reason: "by hand" };
  const unnamed = { file: "a.test.ts", name: "two", reason: undefined };

  test("are listed with their reasons", () => {
    expect(judgeSkips([named, unnamed], false)).toEqual({
      text: "2 tests skipped\n  a.test.ts > one: by hand\n  a.test.ts > two: no reason",
      isRed: false,
    });
  });

  test("fail a run that wants every test only if one has no reason", () => {
    expect(judgeSkips([named], true).isRed).toBe(false);
    expect(judgeSkips([named, unnamed], true)).toMatchObject({ isRed: true });
  });
});
