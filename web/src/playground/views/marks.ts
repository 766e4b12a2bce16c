// What is drawn over the points of a panel: cells below, then trails, neighbours' centroids and the own ones.

import type { PackedMoment, PackedProblem } from "../../engine/messages.ts";
import { cellsOf } from "./cells.ts";
import { cornerOf, type Grid } from "./grid.ts";
import { centroidsInPlane, type Plane } from "./plane.ts";

interface Look {
  readonly paper: string;
  readonly ink: string;
  readonly quiet: string;
  readonly faint: string;
  readonly clusters: readonly string[];
}

/** Everything that a drawing of one moment needs. */
export interface Drawing {
  readonly problem: PackedProblem;
  readonly moment: PackedMoment;
  readonly grid: Grid;
  readonly plane: Plane;
  readonly look: Look;
}

/** Centroids as places in their panels: x and y in turn, k for each device of the moment. */
function placesIn(
  { problem, grid: { side }, plane: { left, top, extent } }: Drawing,
  moment: PackedMoment,
): Float64Array {
  const places = centroidsInPlane(problem, moment.centroids);
  return Float64Array.from(places, (value, at) => ((at % 2 === 0 ? value - left : top - value) / extent) * side);
}

/**
 * Frames of the panels and the cells of the centroids, below the points. Cells of more than two columns do not exist.
 * One path for all cells of a colour: with a thousand devices single ones would take too long.
 */
export function drawCells(context: CanvasRenderingContext2D, drawing: Drawing): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k, cols } = problem.pooled;
  if (cols === 2) {
    const places = placesIn(drawing, moment);
    const ofColour = look.clusters.map(() => new Path2D());
    moment.devices.forEach((device, at) => {
      const { x, y } = cornerOf(grid, device);
      cellsOf(places, 2 * at * k, k, grid.side).forEach((cell, c) => {
        if (cell.length === 0) return;
        const path = ofColour[moment.clusters[at * k + c]];
        path.moveTo(x + cell[0], y + cell[1]);
        for (let i = 2; i < cell.length; i += 2) path.lineTo(x + cell[i], y + cell[i + 1]);
      });
    });
    context.globalAlpha = 0.1;
    ofColour.forEach((path, c) => {
      context.fillStyle = look.clusters[c];
      context.fill(path);
    });
    context.globalAlpha = 1;
  }
  context.lineWidth = 1;
  context.strokeStyle = look.faint;
  context.beginPath();
  for (const device of moment.devices) {
    const { x, y } = cornerOf(grid, device);
    context.rect(x + 0.5, y + 0.5, grid.side - 1, grid.side - 1);
  }
  context.stroke();
}

/** How many moments a trail goes back. */
const TRAIL = 16;

/** `before`: the moments until the one that is drawn. */
export function drawMarks(context: CanvasRenderingContext2D, drawing: Drawing, before: readonly PackedMoment[]): void {
  const { moment, grid } = drawing;
  const isLarge = grid.side >= 70;
  if (isLarge) {
    drawTrails(context, drawing, before.slice(-TRAIL));
    drawNeighbours(context, drawing);
  }
  const places = placesIn(drawing, moment);
  drawCrosses(context, drawing, places, isLarge ? 6 : grid.side < 40 ? 1.5 : 3);
  if (isLarge) drawNames(context, drawing);
}

/** Clips to the panel of a device, which centroids may leave. */
function inPanel(
  context: CanvasRenderingContext2D,
  grid: Grid,
  device: number,
  draw: (x: number, y: number) => void,
): void {
  const { x, y } = cornerOf(grid, device);
  context.save();
  context.beginPath();
  context.rect(x, y, grid.side, grid.side);
  context.clip();
  draw(x, y);
  context.restore();
}

function drawTrails(context: CanvasRenderingContext2D, drawing: Drawing, trail: readonly PackedMoment[]): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k } = problem.pooled;
  const same = trail.filter(({ devices }) => devices.length === moment.devices.length);
  if (same.length < 2) return;
  const places = same.map((earlier) => placesIn(drawing, earlier));
  context.lineWidth = 1.5;
  moment.devices.forEach((device, at) => {
    inPanel(context, grid, device, (x, y) => {
      for (let c = 0; c < k; c++) {
        context.strokeStyle = look.clusters[moment.clusters[at * k + c]];
        for (let t = 1; t < places.length; t++) {
          context.globalAlpha = (0.8 * t) / places.length;
          const i = 2 * (at * k + c);
          context.beginPath();
          context.moveTo(x + places[t - 1][i], y + places[t - 1][i + 1]);
          context.lineTo(x + places[t][i], y + places[t][i + 1]);
          context.stroke();
        }
      }
    });
  });
}

/** Where the neighbours are: small rings. */
function drawNeighbours(context: CanvasRenderingContext2D, drawing: Drawing): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k } = problem.pooled;
  const places = placesIn(drawing, moment);
  const position = new Map(Array.from(moment.devices, (device, at) => [device, at]));
  context.strokeStyle = look.quiet;
  context.lineWidth = 1;
  for (let link = 0; link < moment.links.length; link += 2) {
    const ends = [moment.links[link], moment.links[link + 1]];
    for (const [own, other] of [ends, [ends[1], ends[0]]]) {
      inPanel(context, grid, own, (x, y) => {
        for (let c = 0; c < k; c++) {
          const i = 2 * ((position.get(other) as number) * k + c);
          context.beginPath();
          context.arc(x + places[i], y + places[i + 1], 2.5, 0, 2 * Math.PI);
          context.stroke();
        }
      });
    }
  }
}

/** Own centroids: crosses with a halo, so that they show on points of any colour. Those outside of a panel are not seen. */
function drawCrosses(context: CanvasRenderingContext2D, drawing: Drawing, places: Float64Array, arm: number): void {
  const { problem, moment, grid, look } = drawing;
  const { rows: k } = problem.pooled;
  const crosses = new Path2D();
  const isInside = (place: number) => place >= 0 && place <= grid.side;
  moment.devices.forEach((device, at) => {
    const { x, y } = cornerOf(grid, device);
    for (let i = 2 * at * k; i < 2 * (at + 1) * k; i += 2) {
      if (!isInside(places[i]) || !isInside(places[i + 1])) continue;
      const [crossX, crossY] = [x + places[i], y + places[i + 1]];
      crosses.moveTo(crossX - arm, crossY);
      crosses.lineTo(crossX + arm, crossY);
      crosses.moveTo(crossX, crossY - arm);
      crosses.lineTo(crossX, crossY + arm);
    }
  });
  context.strokeStyle = look.paper;
  context.lineWidth = arm + 1;
  context.stroke(crosses);
  context.strokeStyle = look.ink;
  context.lineWidth = Math.max(1, arm / 2.5);
  context.stroke(crosses);
}

function drawNames(context: CanvasRenderingContext2D, { moment, grid, look }: Drawing): void {
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "top";
  for (const device of moment.devices) {
    const { x, y } = cornerOf(grid, device);
    const fate = moment.frozen.get(device);
    const name = fate === undefined ? `${device}` : fate === "lie" ? `${device} lies` : `${device} stopped`;
    context.strokeStyle = look.paper;
    context.lineWidth = 3;
    context.strokeText(name, x + 6, y + 5);
    context.fillStyle = look.ink;
    context.fillText(name, x + 6, y + 5);
  }
}
