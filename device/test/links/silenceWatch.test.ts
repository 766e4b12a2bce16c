// Silent neighbours are asked, talkative ones never, and nobody is looked for where nobody is.

import { expect, test } from "vitest";
import { silenceWatch } from "../../src/links/libp2pNetwork.ts";
import { manualClock } from "./manualClock.ts";

test("silenceWatch names who said nothing for 45 s, at every look until something is heard", () => {
  const clock = manualClock();
  const silent: string[] = [];
  const watch = silenceWatch<string>(clock, (who) => silent.push(`${who} at ${clock.now() / 1000}`));
  watch.heard("quiet");
  for (let n = 0; n < 10; n++) {
    watch.heard("talkative");
    clock.advance(6_000);
  }
  expect(silent).toEqual(["quiet at 45", "quiet at 60"]);
  watch.heard("quiet");
  clock.advance(30_000);
  expect(silent).toHaveLength(2);
});

test("silenceWatch sets no timer while there is nobody to hear", () => {
  const clock = manualClock();
  const watch = silenceWatch<string>(clock, () => {});
  expect(clock.due()).toEqual([]);
  watch.heard("a");
  watch.heard("b");
  expect(clock.due()).toEqual([15_000]);
  watch.forget("a");
  watch.forget("b");
  clock.advance(15_000);
  expect(clock.due()).toEqual([]);
  watch.heard("a");
  watch.close();
  expect(clock.due()).toEqual([]);
});
