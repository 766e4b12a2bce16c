// The types of wireWatch.mjs.

import type { UpdateModel } from "../src/model.ts";
import type { Sender } from "../src/sender.ts";
import type { scaleRows } from "../src/units.ts";

export function watchedModel(plain: typeof UpdateModel, scale: typeof scaleRows): typeof UpdateModel;
export function watchedSender(plain: typeof Sender, starts: number, report: (fault: string) => void): typeof Sender;
