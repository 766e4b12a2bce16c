// How the run went: objective and total variation after every round.

import { dot, gridY, line, plot } from "@observablehq/plot";
import type { RoundModel } from "../model/model.ts";
import { significant } from "../numbers.ts";

const WIDTH = 460;
const HEIGHT = 240;

export function drawCurve(
  document: Document,
  history: readonly RoundModel[],
  of: "objective" | "totalVariation",
): Element {
  const values = history.map((round) => round[of]);
  const isSpread = Math.min(...values) > 0 && Math.max(...values) > 20 * Math.min(...values);
  const at = { x: "round", y: of } as const;
  return plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 60,
    marginBottom: 40,
    style: { fontSize: "11px" },
    x: {
      label: "round",
      labelAnchor: "center",
      labelArrow: "none",
      ticks: 6,
      tickFormat: (round: number) => (Number.isInteger(round) ? String(round) : ""),
    },
    y: {
      type: isSpread ? "log" : "linear",
      ticks: 5,
      ...(isSpread && { tickFormat: (value: number) => significant(value, 3) }),
      tickSize: 0,
      label: null,
    },
    marks: [
      gridY({ ticks: 5, stroke: "currentColor", strokeOpacity: 0.15 }),
      line(history, { ...at, stroke: "#0072B2", strokeWidth: 2 }),
      dot(history.length === 1 ? history : history.slice(-1), { ...at, r: 3, fill: "#0072B2" }),
    ],
  });
}
