// The types of wireWatch.mjs.

import type { Model } from "../src/model.ts";
import type { Sender } from "../src/sender.ts";
import type { scaleRows } from "../src/units.ts";

export function watchedModel(plain: typeof Model, scale: typeof scaleRows): typeof Model;
export function watchedSender(plain: typeof Sender, starts: number, report: (fault: string) => void): typeof Sender;
