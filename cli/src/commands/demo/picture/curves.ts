// How the methods get there: GCD against messages, both on log axes, every line named where it ends.

import { faint, labelSize, quiet } from "@fedkm/pictures";
import { dot, gridY, line, type Markish, plot, ruleY, text } from "@observablehq/plot";
import { count, significant } from "../../../numbers.ts";
import type { Comparison, CurvePoint } from "../comparison.ts";

/** Line style first, then hue, so that grey print can tell them apart. A light line has its name written darker. */
const styles = {
  fedkm: { line: { stroke: "#0072B2", strokeWidth: 2.25 }, name: "#0072B2" },
  distributed: { line: { stroke: "#D55E00", strokeWidth: 2, strokeDasharray: "0.1,4.5" }, name: "#B84F00" },
  local: { line: { stroke: "#999999", strokeWidth: 1.5, strokeDasharray: "8,3,1.5,3" }, name: quiet },
};

const WIDTH = 584;
const HEIGHT = 372;
const margins = { marginTop: 12, marginLeft: 40, marginRight: 76, marginBottom: 42 };
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
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const at = { x: "messages", y: "deviation" } as const;
  return plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    ...margins,
    style: { fontSize: `${labelSize}px` },
    x: {
      type: "log",
      domain: [first, last],
      ticks: oneTwoFive(first, last),
      tickFormat: count,
      label: `messages sent (each round: ${fedkm[1].messages - first})`,
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: {
      type: "log",
      domain: [10 ** low, 10 ** high],
      ticks,
      tickFormat: (value: number) => `1e${Math.round(Math.log10(value))}`,
      tickSize: 0,
      label: null,
    },
    marks: [
      gridY(ticks, { stroke: faint, strokeOpacity: 0.7 }),
      ruleY([alone], styles.local.line),
      line([...shown, ...leaving], { ...at, ...styles.distributed.line, strokeLinecap: "round" }),
      dot(markers(shown), { ...at, symbol: "triangle", r: 3.5, fill: styles.distributed.line.stroke }),
      line(fedkm, { ...at, ...styles.fedkm.line }),
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
  const ends: { name: keyof typeof styles; deviation: number }[] = [
    { name: "local", deviation: alone },
    { name: "fedkm", deviation: fedkm[fedkm.length - 1].deviation },
  ];
  if (leaving.length === 0) ends.push({ name: "distributed", deviation: end.deviation });
  ends.sort((a, b) => b.deviation - a.deviation);
  const lineHeight = (LINE_HEIGHT * (high - low)) / (HEIGHT - margins.marginTop - margins.marginBottom);
  let free = Number.POSITIVE_INFINITY;
  const labels = ends.map(({ name, deviation }) => {
    // Lines that end together have their names one below the other.
    const exponent = Math.min(Math.log10(deviation), free);
    free = exponent - lineHeight;
    return text([name], { x: [last], y: [10 ** exponent], dx: 8, textAnchor: "start", fill: styles[name].name });
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
    fill: styles.distributed.name,
    stroke: "white",
    strokeWidth: 4,
  });
  return [...labels, left];
}

/** 10, 20, 50, 100 and so on. */
function oneTwoFive(first: number, last: number): number[] {
  const ticks: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(first)); power <= last; power *= 10) {
    for (const factor of [1, 2, 5]) ticks.push(factor * power);
  }
  return ticks.filter((tick) => tick >= first && tick <= last);
}
