// Rooms, doors and springs: a device is a room whose walls keep its rows in, a link is a door, and alpha the stiffness of a
// spring through it. Marks as markup of SVG, in pixels, coloured by the variables of `roomVariables`.

import { escaped } from "./html.ts";

/** A point of a drawing. */
export type Place = readonly [x: number, y: number];

/** A rectangle in pixels. */
export interface Floor {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A tenth of a pixel is enough for the eye. */
const short = (value: number) => String(Math.round(value * 10) / 10);

/** An element of SVG; numbers are rounded, and what is undefined is left out. */
export function mark(tag: string, attributes: Attributes, content = ""): string {
  const written = Object.entries(attributes).flatMap(([name, value]) => {
    return value === undefined ? [] : [` ${name}="${typeof value === "number" ? short(value) : value}"`];
  });
  return `<${tag}${written.join("")}>${content}</${tag}>`;
}

/** `kind`: a class of the page, such as the tone of the words. */
export function drawWords(words: string, [x, y]: Place, kind = "", anchor = "start"): string {
  return mark("text", { x, y, class: kind || undefined, "text-anchor": anchor }, escaped(words));
}

/** A straight line as SVG. */
export function drawLine([x1, y1]: Place, [x2, y2]: Place, colour: string, width: number, dashes?: string): string {
  return mark("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": width, "stroke-dasharray": dashes });
}

/** Circle, square, triangle, diamond and cross, of about the same weight: what colour says, shape says too. */
export function shapePath(cluster: number, [x, y]: Place, r: number): string {
  const path = (corners: readonly Place[]) =>
    `M${corners.map(([dx, dy]) => `${short(x + r * dx)},${short(y + r * dy)}`).join("L")}Z`;
  switch (cluster % 5) {
    case 0:
      return `M${short(x - r)},${short(y)}a${short(r)},${short(r)} 0 1 0 ${short(2 * r)},0a${short(r)},${short(r)} 0 1 0 ${short(-2 * r)},0Z`;
    case 1:
      return path([
        [-0.9, -0.9],
        [0.9, -0.9],
        [0.9, 0.9],
        [-0.9, 0.9],
      ]);
    case 2:
      return path([
        [0, -1.2],
        [1.15, 0.8],
        [-1.15, 0.8],
      ]);
    case 3:
      return path([
        [0, -1.25],
        [1.1, 0],
        [0, 1.25],
        [-1.1, 0],
      ]);
    default:
      return path([
        [-0.4, -1.1],
        [0.4, -1.1],
        [0.4, -0.4],
        [1.1, -0.4],
        [1.1, 0.4],
        [0.4, 0.4],
        [0.4, 1.1],
        [-0.4, 1.1],
        [-0.4, 0.4],
        [-1.1, 0.4],
        [-1.1, -0.4],
        [-0.4, -0.4],
      ]);
  }
}

/** A row of the data. */
export function drawRow(cluster: number, at: Place, r = 2.6, opacity = 0.62): string {
  return mark("path", { d: shapePath(cluster, at, r), fill: `var(--cluster-${cluster})`, opacity: opacity.toFixed(2) });
}

/** A centre: with an outline and a halo in the colour of the floor. `label`: the number of its clinic. */
export function drawCentre(cluster: number, at: Place, r = 9, label = ""): string {
  const d = shapePath(cluster, at, r);
  const halo = mark("path", { d, fill: "none", stroke: "var(--room)", "stroke-width": 8, "stroke-linejoin": "round" });
  const body = mark("path", {
    d,
    fill: `var(--cluster-${cluster})`,
    stroke: "var(--wall)",
    "stroke-width": 2.4,
    "stroke-linejoin": "round",
  });
  return halo + body + (label === "" ? "" : drawWords(label, [at[0], at[1] + 4], `number number-${cluster}`, "middle"));
}

/** Where a centre was, or would be: an outline without a filling. */
export function drawOutline(cluster: number, at: Place, r = 8, colour = "var(--own)"): string {
  return mark("path", { d: shapePath(cluster, at, r), fill: "none", stroke: colour, "stroke-width": 1.8 });
}

interface Spring {
  readonly width?: number;
  readonly colour?: string;
  readonly amplitude?: number;
  readonly coils?: number;
  /** Straight parts at both ends. */
  readonly lead?: number;
}

/** A coil, which opens as it stretches. */
export function drawSpring(from: Place, to: Place, spring: Spring = {}): string {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.max(1, Math.hypot(dx, dy));
  const { width = 2.2, colour = "var(--pull)", coils = Math.round(Math.min(17, Math.max(4, length / 12))) } = spring;
  const {
    amplitude = Math.min(length / 5, Math.max(7, Math.min(12, 110 / Math.sqrt(length)))),
    lead = Math.min(12, length / 6),
  } = spring;
  const [ux, uy] = [dx / length, dy / length];
  const at = (along: number, across: number) =>
    `${short(from[0] + ux * along - uy * across)},${short(from[1] + uy * along + ux * across)}`;
  const steps = coils * 12;
  const places = Array.from({ length: steps + 1 }, (_, i) => {
    const turn = (2 * Math.PI * coils * i) / steps;
    const along = lead + ((length - 2 * lead) * i) / steps;
    // A little to and fro along the way makes a coil of what would be a wave.
    return at(along + 0.5 * amplitude * Math.sin(turn), -0.8 * amplitude * Math.cos(turn));
  });
  const d = `M${at(0, 0)}L${places.join("L")}L${at(length, 0)}`;
  return mark("path", { d, fill: "none", stroke: colour, "stroke-width": width, "stroke-linejoin": "round" });
}

/** A link that no longer pulls: two ends, and a gap of a third. */
export function drawTornSpring(from: Place, to: Place, width = 2.2, colour = "var(--pull)"): string {
  const between = (share: number): Place => [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
  const spring = { width, colour, lead: 4, coils: 4 };
  return drawSpring(from, between(0.34), spring) + drawSpring(to, between(0.67), spring);
}

/** In the wall on this side, at this share of its length. */
export interface Door {
  readonly side: "left" | "right" | "top" | "bottom";
  readonly at: number;
}

const WALL = 3.5;
const DOOR = 22;
const JAMB = 12;

/** Floor and walls, with a gap and two jambs for each door. `thickness`: thinner in small rooms. */
export function drawWalls({ x, y, width, height }: Floor, doors: readonly Door[] = [], thickness = WALL): string {
  const sides = {
    top: [x, y, 1, 0, width],
    bottom: [x, y + height, 1, 0, width],
    left: [x, y, 0, 1, height],
    right: [x + width, y, 0, 1, height],
  } as const;
  const half = Math.min(DOOR, width / 4) / 2;
  const jamb = Math.min(JAMB, width / 8) / 2;
  let d = "";
  for (const [side, [fromX, fromY, ux, uy, length]] of Object.entries(sides)) {
    const at = (along: number, across = 0) =>
      `${short(fromX + ux * along + uy * across)},${short(fromY + uy * along + ux * across)}`;
    const gaps = doors
      .filter((door) => door.side === side)
      .map((door) => door.at * length)
      .sort((a, b) => a - b);
    let reached = -thickness / 2;
    for (const gap of gaps) {
      d += `M${at(reached)}L${at(gap - half)}M${at(gap - half, -jamb)}L${at(gap - half, jamb)}M${at(gap + half, -jamb)}L${at(gap + half, jamb)}`;
      reached = gap + half;
    }
    d += `M${at(reached)}L${at(length + thickness / 2)}`;
  }
  return mark("path", { d, fill: "none", stroke: "var(--wall)", "stroke-width": thickness });
}

/** The floor, divided into the parts that belong to each centre, in the tint of its cluster. */
export function drawCells(floor: Floor, centres: readonly Place[], clusters: ArrayLike<number>): string {
  const { x, y, width, height } = floor;
  const corners: Place[] = [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ];
  return centres
    .map((own, c) => {
      const cell = centres.reduce((rest, other, i) => (i === c ? rest : nearerHalf(rest, own, other)), corners);
      if (cell.length < 3) return "";
      const d = `M${cell.map(([px, py]) => `${short(px)},${short(py)}`).join("L")}Z`;
      const tint = `var(--cell-${clusters[c]})`;
      // A hair of the same colour closes the seam between two cells of one cluster.
      return mark("path", { d, fill: tint, stroke: tint, "stroke-width": 0.6 });
    })
    .join("");
}

/** What of a polygon is nearer to one place than to another. */
function nearerHalf(polygon: readonly Place[], own: Place, other: Place): Place[] {
  const [nx, ny] = [other[0] - own[0], other[1] - own[1]];
  if (nx === 0 && ny === 0) return [...polygon];
  const middle = (nx * (own[0] + other[0]) + ny * (own[1] + other[1])) / 2;
  const over = ([x, y]: Place) => nx * x + ny * y - middle;
  return polygon.flatMap((a, i) => {
    const b = polygon[(i + 1) % polygon.length];
    const [fromHere, fromNext] = [over(a), over(b)];
    const kept: Place[] = fromHere <= 0 ? [a] : [];
    if (fromHere < 0 !== fromNext < 0 && fromHere !== fromNext) {
      const share = fromHere / (fromHere - fromNext);
      kept.push([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]);
    }
    return kept;
  });
}

/** What an observer cannot know: hatching over a floor. */
export function drawHatching({ x, y, width, height }: Floor): string {
  let d = "";
  for (let from = -height; from < width; from += 9) {
    const [left, right] = [Math.max(0, from), Math.min(width, from + height)];
    d += `M${short(x + left)},${short(y + height - (left - from))}L${short(x + right)},${short(y + height - (right - from))}`;
  }
  return (
    mark("rect", { x, y, width, height, fill: "var(--wash)" }) +
    mark("path", { d, stroke: "var(--hair)", "stroke-width": 2.4 })
  );
}

/** The view that no device has: a hairline frame and no walls. */
export function drawFrame({ x, y, width, height }: Floor): string {
  return mark("rect", { x, y, width, height, fill: "none", stroke: "var(--hair)", "stroke-width": 1.5 });
}

/** From data to pixels, with one scale for both directions, up is up, and the data in the middle of the floor. */
export function scaleToFloor(places: readonly Place[], floor: Floor, margin = 18): (place: Place) => Place {
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(
    (floor.width - 2 * margin) / Math.max(right - left, 1e-9),
    (floor.height - 2 * margin) / Math.max(high - low, 1e-9),
  );
  const [midX, midY] = [floor.x + floor.width / 2, floor.y + floor.height / 2];
  return ([x, y]) => [midX + (x - (left + right) / 2) * scale, midY - (y - (low + high) / 2) * scale];
}

/** Of a spring, by alpha: 1.4 to 5.2 pixels. */
export function springWidth(alpha: number): number {
  const share = alpha === 0 ? 0 : (Math.log10(alpha) + 3) / 4.5;
  return 1.4 + 3.8 * Math.max(0, Math.min(1, share));
}
