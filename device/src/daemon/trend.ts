// Coarse figures of a device over time, kept in its status, so that curves begin before anybody looks: close together
// lately, and farther apart the longer ago they are.

/** When, by the wall clock in milliseconds, the own part of the objective, and the last move. */
export type TrendPoint = readonly [at: number, objective: number, move: number];

/** Two neighbouring points are at least this share of their age apart: a year takes fewer than 200 of them. */
const SPACING = 0.1;
const DIGITS = 5;

/** The oldest first. */
export function withTrendPoint(
  trend: readonly TrendPoint[],
  now: number,
  { objective, move }: { readonly objective: number | null; readonly move: number | null },
): readonly TrendPoint[] {
  // Points of a clock that was ahead would stay for ever.
  const past = trend.filter(([at]) => at < now);
  if (objective === null || move === null) return past;
  const kept: TrendPoint[] = [[now, Number(objective.toPrecision(DIGITS)), Number(move.toPrecision(DIGITS))]];
  for (const point of past.toReversed()) {
    const [next] = kept[0];
    if (next - point[0] >= SPACING * (now - next)) kept.unshift(point);
  }
  return kept;
}
