// The types of wireWatch.mjs.

import type { Sender } from "../src/loop/sender.ts";
import type { UpdateModel } from "../src/loop/updateModel.ts";
import type { SharedRows } from "../src/sharedClusters/sharedRows.ts";
import type { scaleRows } from "../src/study/units.ts";

export function watchedModel(plain: typeof UpdateModel, scale: typeof scaleRows): typeof UpdateModel;
export function watchedSender(plain: typeof Sender, starts: number, report: (fault: string) => void): typeof Sender;
export function watchedRows(
  plain: typeof SharedRows,
  describe: number,
  report: (fault: string) => void,
): typeof SharedRows;
