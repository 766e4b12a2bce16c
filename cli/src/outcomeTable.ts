// How methods compare, as a table on the terminal: one row for each, with the best of those that do not pool in bold.

import type { MethodOutcome } from "@fedkm/experiments";
import { bold } from "./console.ts";
import { count, duration, significant } from "./numbers.ts";
import { alignColumns } from "./table.ts";

export function outcomeTable(outcomes: readonly MethodOutcome[], styled: boolean, withCollector = true): string[] {
  const scored = outcomes.some(({ nmi }) => nmi !== null);
  const plugged = Object.keys(outcomes[0].measures);
  const scores = scored ? ["NMI", "ARI"] : [];
  const collector = withCollector ? ["collector"] : [];
  const heading = ["method", "GCD", "CV", "cost", ...scores, ...plugged, "messages", "bytes", ...collector, "time"];
  const rows = outcomes.map((own) => {
    const { method, gcd, cv, costRatio, nmi, ari, measures, messages, bytes, collectorBytes, milliseconds } = own;
    return [
      method,
      significant(gcd, 2),
      significant(cv, 2),
      `${costRatio?.toFixed(4) ?? "none"}${own.beatsPooled ? "*" : ""}`,
      ...(scored ? [nmi, ari].map((score) => (score === null ? "" : score.toFixed(3))) : []),
      ...plugged.map((name) => (measures[name] === null ? "none" : significant(measures[name], 3))),
      count(messages),
      count(bytes),
      ...collector.map(() => (collectorBytes === null ? "" : count(collectorBytes))),
      duration(milliseconds),
    ];
  });
  const rivals = outcomes.filter(({ method }) => method !== "pooled");
  const best = Math.min(...rivals.map(({ gcd }) => gcd));
  return alignColumns([heading, ...rows], (text, row, column) => {
    const isBest = row > 0 && column === 1 && rivals.includes(outcomes[row - 1]) && outcomes[row - 1].gcd === best;
    return bold(text, styled && isBest);
  });
}
