// How the methods get there: GCD against messages, both on log axes, every line named where it ends.

import { axisTicks, faint, labelSize, lineStyle, paper, significant, strokeOptions } from "@fedkm/pictures";
import { dot, gridY, line, type Markish, plot, ruleY, text } from "@observablehq/plot";
import type { Comparison, CurvePoint } from "../comparison.ts";

const WIDTH = 584;
const HEIGHT = 372;
const margins = { marginTop: 12, marginRight: 76, marginBottom: 42 };
const PANEL_HEIGHT = HEIGHT - margins.marginTop - margins.marginBottom;
const LINE_HEIGHT = 14;

/** What the axes show: messages from the start to the longest run, and whole decades of GCD as their exponents. */
interface Extent {
  readonly first: number;
  readonly last: number;
  readonly low: number;
  readonly high: number;
}

export function drawCurves(document: Document, { curves, results }: Comparison): Element {
  const { fedkm, distributed } = curves;
  const alone = results.local.deviation;
  const extent = extentOf(fedkm, distributed, alone);
  const { first, last, low, high } = extent;
  const shown = distributed.filter(({ deviation }) => deviation >= 10 ** low);
  const leaving = crossing(distributed, 10 ** low);
  const domain = { x: [first, last], y: [10 ** low, 10 ** high] } as const;
  const up = axisTicks({ domain: domain.y, length: PANEL_HEIGHT, spacing: "decades", direction: "up", most: 12 });
  const length = WIDTH - up.room - margins.marginRight;
  const across = axisTicks({ domain: domain.x, length, spacing: "oneTwoFive", direction: "across" });
  const at = { x: "messages", y: "deviation" } as const;
  const style = lineStyle("distributed");
  return plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    ...margins,
    marginLeft: up.room,
    style: { fontSize: `${labelSize}px` },
    x: {
      type: "log",
      domain: domain.x,
      ...across.axis,
      label: `messages sent (each round: ${fedkm[1].messages - first})`,
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: { type: "log", domain: domain.y, ...up.axis, tickSize: 0, label: null },
    marks: [
      gridY(up.axis.ticks, { stroke: faint, strokeOpacity: 0.7 }),
      ruleY([alone], strokeOptions(lineStyle("local"))),
      line([...shown, ...leaving], { ...at, ...strokeOptions(style) }),
      dot(markers(shown), { ...at, symbol: style.mark, r: 3.5, fill: style.stroke }),
      line(fedkm, { ...at, ...strokeOptions(lineStyle("fedkm")) }),
      ...names(fedkm, distributed, alone, leaving, extent),
    ],
  });
}

/** Points about a quarter apart, which lie evenly on a log axis. */
function markers(points: readonly CurvePoint[]): CurvePoint[] {
  const kept: CurvePoint[] = [];
  for (const point of points) {
    if (kept.length === 0 || point.messages >= 1.25 * kept[kept.length - 1].messages) kept.push(point);
  }
  return kept;
}

function extentOf(fedkm: readonly CurvePoint[], distributed: readonly CurvePoint[], alone: number): Extent {
  const every = [...fedkm, ...distributed];
  const lowest = Math.min(alone, ...fedkm.map(({ deviation }) => deviation));
  const highest = Math.max(alone, ...every.map(({ deviation }) => deviation));
  return {
    first: fedkm[0].messages,
    last: Math.max(...every.map(({ messages }) => messages)),
    // Hard consensus can end twenty decades below fedkm; down there is nothing to see, and its name says where it went.
    low: Math.floor(Math.log10(lowest)) - 1,
    high: Math.ceil(Math.log10(highest)),
  };
}

/** Where a curve goes through the floor for good, between two of its points: none or one. */
function crossing(points: readonly CurvePoint[], floor: number): CurvePoint[] {
  const above = points.findLastIndex(({ deviation }) => deviation >= floor);
  if (above === points.length - 1) return [];
  const [from, to] = points.slice(above, above + 2);
  // An exact 0 has no logarithm; any depth will do for the slope of a line that leaves the picture.
  const depth = Math.log(from.deviation / Math.max(to.deviation, Number.MIN_VALUE));
  const share = Math.log(from.deviation / floor) / depth;
  return [{ ...from, messages: from.messages * (to.messages / from.messages) ** share, deviation: floor }];
}

/** The names of the lines: in the right margin at the height of their ends, or where the line leaves the picture. */
function names(
  fedkm: readonly CurvePoint[],
  distributed: readonly CurvePoint[],
  alone: number,
  leaving: readonly CurvePoint[],
  { first, last, low, high }: Extent,
): Markish[] {
  const end = distributed[distributed.length - 1];
  const ends: { name: string; deviation: number }[] = [
    { name: "local", deviation: alone },
    { name: "fedkm", deviation: fedkm[fedkm.length - 1].deviation },
  ];
  if (leaving.length === 0) ends.push({ name: "distributed", deviation: end.deviation });
  ends.sort((a, b) => b.deviation - a.deviation);
  const lineHeight = (LINE_HEIGHT * (high - low)) / PANEL_HEIGHT;
  let free = Number.POSITIVE_INFINITY;
  const labels = ends.map(({ name, deviation }) => {
    // Lines that end together have their names one below the other.
    const exponent = Math.min(Math.log10(deviation), free);
    free = exponent - lineHeight;
    return text([name], { x: [last], y: [10 ** exponent], dx: 8, textAnchor: "start", fill: lineStyle(name).name });
  });
  // On the side where there is room.
  const side = leaving.some(({ messages }) => messages * messages > first * last)
    ? ({ dx: -9, textAnchor: "end" } as const)
    : ({ dx: 9, textAnchor: "start" } as const);
  const left = text(leaving, {
    x: "messages",
    y: "deviation",
    text: () => `distributed, on to ${significant(end.deviation, 2)}`,
    ...side,
    dy: -9,
    fill: lineStyle("distributed").name,
    stroke: paper,
    strokeWidth: 4,
  });
  return [...labels, left];
}
