// What is drawn over large panels: trails, the neighbours' centroids, the own ones, and names.

import type { PackedMoment, PackedProblem } from "../../engine/messages.ts";
import type { PanelColours } from "./painter.ts";
import { type PanelLayout, type Plane, panelCentroids, panelCorner } from "./plane.ts";

interface Drawing {
  readonly problem: PackedProblem;
  readonly moment: PackedMoment;
  readonly grid: PanelLayout;
  readonly plane: Plane;
  readonly look: PanelColours;
}

const TRAIL = 16;
/** Of the arm of a cross and of a ring, in pixels of the page. */
const [ARM, RADIUS] = [6, 2.5];

/** `moments` from the first on, of which the one at `at` is drawn. */
export function drawPanelMarks(
  context: CanvasRenderingContext2D,
  drawing: Drawing,
  moments: readonly PackedMoment[],
  at: number,
): void {
  context.save();
  // Centroids may be at the border of their panels, and nothing of them is drawn outside.
  context.beginPath();
  for (const device of drawing.moment.devices) {
    const { x, y } = panelCorner(drawing.grid, device);
    context.rect(x, y, drawing.grid.side, drawing.grid.side);
  }
  context.clip();
  const places = placesIn(drawing, drawing.moment);
  drawTrails(context, drawing, moments.slice(Math.max(0, at + 1 - TRAIL), at + 1));
  drawNeighbours(context, drawing, places);
  drawCrosses(context, drawing, places);
  context.restore();
  drawNames(context, drawing);
}

/** Centroids as places in their panels: x and y in turn, k for each device of the moment. */
function placesIn(
  { problem, grid: { side }, plane: { left, top, extent } }: Drawing,
  moment: PackedMoment,
): Float64Array {
  const places = panelCentroids(problem, moment.centroids);
  return places.map((value, at) => ((at % 2 === 0 ? value - left : top - value) / extent) * side);
}

/** One stroke for all lines of an age and a colour: single ones would take too long. */
function drawTrails(context: CanvasRenderingContext2D, drawing: Drawing, trail: readonly PackedMoment[]): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k } = problem.pooled;
  const same = trail.filter(({ devices }) => devices.length === moment.devices.length);
  const places = same.map((earlier) => placesIn(drawing, earlier));
  context.lineWidth = 1.5;
  for (let t = 1; t < places.length; t++) {
    const ofColour = look.clusters.map(() => new Path2D());
    moment.devices.forEach((device, at) => {
      const { x, y } = panelCorner(grid, device);
      for (let i = at * k; i < (at + 1) * k; i++) {
        if (!isFarther(places[t - 1], places[t], 2 * i)) continue;
        if (!isInside(places[t - 1], 2 * i, grid.side) || !isInside(places[t], 2 * i, grid.side)) continue;
        const path = ofColour[moment.clusters[i]];
        path.moveTo(x + places[t - 1][2 * i], y + places[t - 1][2 * i + 1]);
        path.lineTo(x + places[t][2 * i], y + places[t][2 * i + 1]);
      }
    });
    context.globalAlpha = (0.8 * t) / places.length;
    ofColour.forEach((path, c) => {
      context.strokeStyle = look.clusters[c];
      context.stroke(path);
    });
  }
  context.globalAlpha = 1;
}

/** Whether a place is in its panel: what lies outside would be drawn in another one. */
function isInside(places: Float64Array, i: number, side: number): boolean {
  return Math.min(places[i], places[i + 1]) >= 0 && Math.max(places[i], places[i + 1]) <= side;
}

/** Whether a line between two places would be seen. */
function isFarther(from: Float64Array, to: Float64Array, i: number): boolean {
  return Math.abs(from[i] - to[i]) + Math.abs(from[i + 1] - to[i + 1]) > 0.1;
}

/** Where the neighbours are: small rings. */
function drawNeighbours(context: CanvasRenderingContext2D, drawing: Drawing, places: Float64Array): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k } = problem.pooled;
  const position = new Map(Array.from(moment.devices, (device, at) => [device, at]));
  context.beginPath();
  const addRings = (own: number, other: number) => {
    const { x, y } = panelCorner(grid, own);
    const from = 2 * k * (position.get(other) as number);
    for (let i = from; i < from + 2 * k; i += 2) {
      if (!isInside(places, i, grid.side)) continue;
      context.moveTo(x + places[i] + RADIUS, y + places[i + 1]);
      context.arc(x + places[i], y + places[i + 1], RADIUS, 0, 2 * Math.PI);
    }
  };
  for (let link = 0; link < moment.links.length; link += 2) {
    addRings(moment.links[link], moment.links[link + 1]);
    addRings(moment.links[link + 1], moment.links[link]);
  }
  context.strokeStyle = look.quiet;
  context.lineWidth = 1;
  context.stroke();
}

/**
 * Own centroids: crosses with a halo, so that they show on points of any colour. One outside of its panel is an arrow at the
 * border that points to it.
 */
function drawCrosses(context: CanvasRenderingContext2D, drawing: Drawing, places: Float64Array): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k } = problem.pooled;
  const crosses = new Path2D();
  const arrows = new Path2D();
  moment.devices.forEach((device, at) => {
    const { x, y } = panelCorner(grid, device);
    for (let i = 2 * at * k; i < 2 * (at + 1) * k; i += 2) {
      const [inX, inY] = [places[i], places[i + 1]].map((at) => Math.max(ARM, Math.min(grid.side - ARM, at)));
      if (Math.max(Math.abs(places[i] - inX), Math.abs(places[i + 1] - inY)) > ARM) {
        addArrow(arrows, x + inX, y + inY, Math.atan2(places[i + 1] - inY, places[i] - inX));
        continue;
      }
      const [crossX, crossY] = [x + places[i], y + places[i + 1]];
      crosses.moveTo(crossX - ARM, crossY);
      crosses.lineTo(crossX + ARM, crossY);
      crosses.moveTo(crossX, crossY - ARM);
      crosses.lineTo(crossX, crossY + ARM);
    }
  });
  context.strokeStyle = look.paper;
  context.lineWidth = ARM + 1;
  context.stroke(crosses);
  context.strokeStyle = look.ink;
  context.lineWidth = ARM / 2.5;
  context.stroke(crosses);
  context.fillStyle = look.ink;
  context.fill(arrows);
}

function addArrow(arrows: Path2D, x: number, y: number, turn: number): void {
  const corner = (angle: number) => [x + ARM * Math.cos(turn + angle), y + ARM * Math.sin(turn + angle)] as const;
  arrows.moveTo(...corner(0));
  arrows.lineTo(...corner(2.4));
  arrows.lineTo(...corner(-2.4));
  arrows.closePath();
}

function drawNames(context: CanvasRenderingContext2D, { moment, grid, look }: Drawing): void {
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "top";
  context.strokeStyle = look.paper;
  context.fillStyle = look.ink;
  context.lineWidth = 3;
  for (const device of moment.devices) {
    const { x, y } = panelCorner(grid, device);
    const fate = moment.frozen.get(device);
    const name = fate === undefined ? `${device}` : fate === "lie" ? `${device} lies` : `${device} stopped`;
    context.strokeText(name, x + 6, y + 5);
    context.fillText(name, x + 6, y + 5);
  }
}
