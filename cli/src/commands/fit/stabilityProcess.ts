// The main file of a process that says how stable clusters are: one task, one answer.

import { checkFitMethod, examineStability, refitForStability } from "@fedkm/tables";
import { methodOfFlag } from "../../input/reading.ts";
import { pluginsOf } from "../../plugins.ts";
import type { StabilityAnswer, StabilityOrder } from "./stabilityLater.ts";

const now = () => performance.timeOrigin + performance.now();

process.once("message", async ({ task, flags }: StabilityOrder) => {
  const { methods } = await pluginsOf(flags);
  const { k } = task.model.options;
  const method = await methodOfFlag(flags.method, methods);
  const refit = refitForStability(checkFitMethod({ ...flags, k, method }));
  const from = now();
  const stability = examineStability(task, refit);
  const answer: StabilityAnswer = { stability, span: { from, to: now() } };
  process.send?.(answer, () => process.disconnect());
});
