// How the run went: objective and total variation after every round.

import { axisTicks, domainOf, faint, labelSize, lineStyle, strokeOptions } from "@fedkm/pictures";
import { dot, gridY, line, plot } from "@observablehq/plot";
import type { RoundModel } from "../../../model/model.ts";

const WIDTH = 460;
const HEIGHT = 240;
const margins = { marginTop: 20, marginRight: 20, marginBottom: 40 };
const style = lineStyle("fedkm");

/** Values that span more than this are seen better on a log axis. */
const SPREAD = 20;

export function drawCurve(
  document: Document,
  history: readonly RoundModel[],
  of: "objective" | "totalVariation",
): Element {
  const y = domainOf(history.map((round) => round[of]));
  const isLog = y[0] > 0 && y[1] > SPREAD * y[0];
  const length = HEIGHT - margins.marginTop - margins.marginBottom;
  const up = axisTicks({ domain: y, length, spacing: isLog ? "decades" : "linear", direction: "up" });
  const x = domainOf(history.map(({ round }) => round));
  const width = WIDTH - up.room - margins.marginRight;
  const across = axisTicks({ domain: x, length: width, spacing: "linear", direction: "across", whole: true });
  const at = { x: "round", y: of } as const;
  return plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    ...margins,
    marginLeft: up.room,
    style: { fontSize: `${labelSize}px` },
    x: { label: "round", labelAnchor: "center", labelArrow: "none", domain: x, ...across.axis },
    y: { type: isLog ? "log" : "linear", domain: y, ...up.axis, insetBottom: 6, tickSize: 0, label: null },
    marks: [
      gridY(up.axis.ticks, { stroke: faint, strokeOpacity: 0.7 }),
      line(history, { ...at, ...strokeOptions(style) }),
      dot(history.length === 1 ? history : history.slice(-1), { ...at, r: 3, fill: style.stroke }),
    ],
  });
}
