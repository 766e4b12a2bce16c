// The rows that a guarded device has in use, and their classes, as its own history has them.

import type { Matrix } from "@fedkm/core";
import { decodeHistory } from "../../device/src/historyFile.ts";
import type { Study } from "../../device/src/study/study.ts";
import { dividedByScale } from "../../device/src/study/units.ts";

/** In the scaled units of the study; undefined where nothing is guarded. */
export function rowsInUse(
  study: Study,
  history: Uint8Array | undefined,
): { readonly points: Matrix; readonly classes: ArrayLike<number> } | undefined {
  if (study.privacy !== "guarded" || history === undefined) return undefined;
  const decoded = decodeHistory(
    history,
    study.features.map(({ name }) => name),
  );
  if (decoded === undefined) return undefined;
  const { rows, classes } = decoded.counted;
  return { points: dividedByScale(study, rows), classes: classes.ids };
}
