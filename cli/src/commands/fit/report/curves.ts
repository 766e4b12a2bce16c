// How the run went: objective and total variation after every round.

import { dot, gridY, line, plot } from "@observablehq/plot";
import type { RoundModel } from "../../../model/model.ts";
import { significant } from "../../../numbers.ts";

const WIDTH = 460;
const HEIGHT = 240;

export function drawCurve(
  document: Document,
  history: readonly RoundModel[],
  of: "objective" | "totalVariation",
): Element {
  const values = history.map((round) => round[of]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isSpread = least > 0 && most > 20 * least;
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
      // Of a curve that is one level the default would write all digits.
      ...((isSpread || least === most) && { tickFormat: (value: number) => significant(value, 3) }),
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
