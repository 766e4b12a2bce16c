// Houses and views from above, which several figures have: four rooms in a square, and centres of all clinics without walls.

import {
  type Door,
  drawCells,
  drawCentre,
  drawFrame,
  drawLine,
  drawOutline,
  drawRow,
  drawSpring,
  drawTornSpring,
  drawWalls,
  drawWords,
  type Floor,
  type Place,
  scaleToFloor,
  springWidth,
} from "@fedkm/pictures";
import type { Centres } from "../engine/figures.ts";
import { nearestOf } from "./ask.ts";

interface ColouredRow {
  readonly at: Place;
  readonly cluster: number;
}

interface House {
  readonly rows: readonly (readonly ColouredRow[])[];
  readonly centres: Centres;
  /** The clusters of all rows together: a centre has the colour of the nearest. */
  readonly reference: readonly Place[];
  /** How far the doors are open, from 0 to 1; beyond 0 there are springs. */
  readonly open: number;
  readonly alpha: number;
  readonly patient?: Place;
}

/** Rooms of the ring of four, clockwise from the top left, and their doors. */
const spots = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
] as const;
const doors: readonly (readonly Door[])[] = [
  [
    { side: "right", at: 0.5 },
    { side: "bottom", at: 0.5 },
  ],
  [
    { side: "left", at: 0.5 },
    { side: "bottom", at: 0.5 },
  ],
  [
    { side: "left", at: 0.5 },
    { side: "top", at: 0.5 },
  ],
  [
    { side: "right", at: 0.5 },
    { side: "top", at: 0.5 },
  ],
];

function houseLayout(width: number) {
  const gap = Math.min(76, width * 0.12);
  const side = (width - gap - 4) / 2;
  const floorOf = ([column, row]: Place): Floor => ({
    x: 2 + column * (side + gap),
    y: 2 + row * (side + gap),
    width: side,
    height: side,
  });
  return { gap, side, floors: spots.map(floorOf) };
}

function houseScales({ rows }: Pick<House, "rows">, floors: readonly Floor[]) {
  const all = rows.flatMap((own) => own.map(({ at }) => at));
  return floors.map((floor) => scaleToFloor(all, floor, Math.max(10, floor.width * 0.1)));
}

/** Where in the data a pointer is, over any of the four rooms. */
export function placeInHouse(house: Pick<House, "rows">, width: number, [x, y]: Place): Place | undefined {
  const { floors } = houseLayout(width);
  const room = floors.findIndex(
    (floor) => x >= floor.x && x <= floor.x + floor.width && y >= floor.y && y <= floor.y + floor.height,
  );
  if (room < 0) return undefined;
  const scale = houseScales(house, floors)[room];
  const [origin, unit] = [scale([0, 0]), scale([1, 1])];
  return [(x - origin[0]) / (unit[0] - origin[0]), (y - origin[1]) / (unit[1] - origin[1])];
}

export function drawHouse(house: House, width: number): string {
  const { rows, centres, reference, open, alpha, patient } = house;
  const { gap, side, floors } = houseLayout(width);
  const scales = houseScales(house, floors);
  const isSmall = side < 150;
  const rooms = floors.map((floor, room) => {
    const place = scales[room];
    const clusters = centres[room].map((centre) => nearestOf(reference, centre));
    const at = centres[room].map(place);
    const drawn = [
      drawCells(floor, at, clusters),
      ...rows[room].map((row) => drawRow(row.cluster, place(row.at), isSmall ? 2 : 2.6)),
      ...at.map((centre, c) => drawCentre(clusters[c], centre, isSmall ? 7 : 9)),
      drawWalls(floor, open > 0.5 ? doors[room] : [], side < 90 ? 2.2 : 3.5),
      drawWords(String(room + 1), [floor.x + 9, floor.y + side - 10], "bold"),
    ];
    if (patient !== undefined) drawn.push(drawPatient(clusters[nearestOf(centres[room], patient)], place(patient)));
    return drawn.join("");
  });
  const width1 = springWidth(alpha);
  const middle = 2 + side / 2;
  const far = 2 + side + gap + side / 2;
  const [near, end] = [2 + side, 2 + side + gap];
  const links: [Place, Place][] = [
    [
      [near, middle],
      [end, middle],
    ],
    [
      [far, near],
      [far, end],
    ],
    [
      [end, far],
      [near, far],
    ],
    [
      [middle, end],
      [middle, near],
    ],
  ];
  const springs =
    open > 0.5
      ? links.map(([from, to]) => drawSpring(from, to, { width: width1, amplitude: Math.min(9, gap / 5) }))
      : [];
  return [...rooms, ...springs].join("");
}

/** A new patient: a dashed ring, with what the room takes it for. */
function drawPatient(cluster: number, at: Place): string {
  const ring = `<circle cx="${at[0].toFixed(1)}" cy="${at[1].toFixed(1)}" r="12" fill="none" stroke="var(--wall)" stroke-width="1.8" stroke-dasharray="3 3"/>`;
  return ring + drawRow(cluster, at, 5.5, 1);
}

interface Above {
  readonly rows: readonly (readonly ColouredRow[])[];
  readonly centres: Centres;
  /** Where each centre would be alone. */
  readonly alone: Centres;
  readonly roads?: readonly Centres[];
  readonly links: readonly (readonly [number, number])[];
  readonly torn?: readonly boolean[];
  readonly alpha: number;
}

/** All centres from above: no clinic has this view, so there are no walls. */
export function drawAbove({ rows, centres, alone, roads = [], links, torn = [], alpha }: Above, floor: Floor): string {
  const all = rows.flatMap((own) => own.map(({ at }) => at));
  const place = scaleToFloor(all, floor, 14);
  const isSmall = floor.width < 300;
  const r = isSmall ? 7 : 10;
  const parts = [
    drawFrame(floor),
    ...rows.flatMap((own) => own.map((row) => drawRow(row.cluster, place(row.at), 2.4, 0.3))),
  ];
  for (const [i, own] of alone.entries()) {
    for (const [c, at] of own.entries()) {
      const road = roads.map((stop) =>
        place(stop[i][c])
          .map((value) => value.toFixed(1))
          .join(","),
      );
      if (road.length > 1) {
        parts.push(
          `<path d="M${road.join("L")}" fill="none" stroke="var(--soft)" stroke-width="1.5" stroke-linecap="round" stroke-dasharray="0.5 4.5"/>`,
        );
      }
      parts.push(drawOutline(c, place(at), r - 2));
    }
  }
  links.forEach(([i, j], link) => {
    for (const c of centres[i].keys()) {
      const [from, to] = [place(centres[i][c]), place(centres[j][c])];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
      if (alpha === 0) parts.push(drawLine(from, to, "var(--pull)", 1.2, "2 7"));
      else if (length > 2 * r + 6) {
        const [ux, uy] = [((to[0] - from[0]) / length) * (r + 2), ((to[1] - from[1]) / length) * (r + 2)];
        const ends: [Place, Place] = [
          [from[0] + ux, from[1] + uy],
          [to[0] - ux, to[1] - uy],
        ];
        parts.push(torn[link] ? drawTornSpring(...ends) : drawSpring(...ends, { width: springWidth(alpha) }));
      }
    }
  });
  for (const [i, own] of centres.entries()) {
    for (const [c, at] of own.entries()) parts.push(drawCentre(c, place(at), r, isSmall ? "" : String(i + 1)));
  }
  return parts.join("");
}
