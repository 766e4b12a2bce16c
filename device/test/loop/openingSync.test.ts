// A device after a change of its key: its rows are in the network once, under the new id.

import { expect, test } from "vitest";
import { OpeningSync } from "../../src/loop/openingSync.ts";
import type { SavedState } from "../../src/loop/savedState.ts";
import { originHash } from "../../src/wire/hashes.ts";

test("OpeningSync takes its sketch along to another id, in its own table too", () => {
  const options = { epoch: 1, k: 1, ranges: Float64Array.of(1), alpha: 1 };
  const before = new OpeningSync({ ...options, self: "old", saved: undefined });
  before.renew({ shares: Uint8Array.of(255), centroids: Float64Array.of(0.5) }, 0);
  const saved = before.saved() as SavedState;
  const after = new OpeningSync({ ...options, self: "new", saved });
  expect(after.own?.origin).toBe(originHash("new"));
  expect(after.saved().opening.sketches.map(({ origin }) => origin)).toEqual([originHash("new")]);
  const same = new OpeningSync({ ...options, self: "old", saved });
  expect(same.saved()).toEqual(saved);
});
