// The main file of a process that says how sure clusters are: one task, one answer.

import { askedOf, refitOf } from "../../../../tables/src/fit/method.ts";
import { surenessOf } from "../../../../tables/src/fit/stability.ts";
import { pluginsOf } from "../../plugins.ts";
import type { SureAnswer, SureTask } from "./stabilityLater.ts";

const now = () => performance.timeOrigin + performance.now();

process.once("message", async ({ looked, options }: SureTask) => {
  const { methods } = await pluginsOf(options);
  const refit = refitOf(askedOf(options, methods));
  const from = now();
  const sure = surenessOf(looked, refit);
  const answer: SureAnswer = { sure, span: { from, to: now() } };
  process.send?.(answer, () => process.disconnect());
});
