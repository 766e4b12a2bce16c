// Single rows from a run of Algorithm 1 that somebody hears in full: the attack of the audit, on centroids in memory.

import type { Matrix } from "@fedkm/core";
import type { Exchange } from "@fedkm/core/privacy";
import { inversionSnapshots } from "./inversion.ts";
import { rowClaims } from "./rowTracking.ts";

/** How many of a device's rows follow from its messages and those of its neighbours, right to 1e-6. */
export function rowsFromExchanges(exchanges: readonly Exchange[], alpha: number, points: Matrix): number {
  const messages = exchanges.map(({ sent, neighbours }, at) => ({
    at,
    stamp: { epoch: 0, sequence: at },
    centroids: sent,
    before: exchanges[at - 1]?.sent,
    neighbours: [neighbours],
  }));
  const rules = { alpha, coupling: "nearest", typicalRows: null, grain: 0 } as const;
  const claims = rowClaims(messages, inversionSnapshots(messages, rules), rules, 1);
  const { data, rows, cols } = points;
  const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b));
  const found = Array.from({ length: rows }, (_, row) =>
    claims.some(({ values }) => values.every((value, d) => isNear(value, data[row * cols + d]))),
  );
  return found.filter(Boolean).length;
}
