// What is said in words about a device and, where one is pointed at, about a row of it.

import { countLabel, significantLabel } from "@fedkm/pictures";
import type { PackedMoment, PackedProblem } from "../../engine/messages.ts";
import type { OwnData } from "../own.ts";
import { type Plane, panelCentroids } from "./plane.ts";

/** More neighbours are counted and not listed. */
const MOST_LISTED = 12;

/** Of the device at this position of the moment. */
export function aboutDevice(
  problem: PackedProblem,
  moment: PackedMoment,
  plane: Plane,
  at: number,
  row: number | undefined,
  own: OwnData | undefined,
): string {
  const device = moment.devices[at];
  const { rows } = problem.datasets[device];
  const name = own?.deviceNames[device];
  const fates = { lie: ", which lies", kill: ", which has stopped" };
  const frozen = moment.frozen.get(device);
  const fate = frozen === undefined ? "" : fates[frozen];
  const neighbours = neighboursOf(moment, device);
  const linked =
    neighbours.length === 0
      ? "no link"
      : neighbours.length > MOST_LISTED
        ? `${countLabel(neighbours.length)} links`
        : `linked with ${neighbours.join(", ")}`;
  const outside = centroidsOutside(problem, moment, plane, at);
  const gone = outside === 0 ? "" : ` ${outside} of its centroids lie outside of the frame.`;
  const words = row === undefined ? "" : ` ${aboutRow(problem, device, row, own)}`;
  return `Device ${device}${name === undefined ? "" : ` (${name})`}${fate}: ${countLabel(rows)} rows, ${linked}.${gone}${words}`;
}

function neighboursOf({ links }: PackedMoment, device: number): number[] {
  const found: number[] = [];
  for (let link = 0; link < links.length; link += 2) {
    if (links[link] === device) found.push(links[link + 1]);
    else if (links[link + 1] === device) found.push(links[link]);
  }
  return found.sort((a, b) => a - b);
}

function centroidsOutside(
  problem: PackedProblem,
  moment: PackedMoment,
  { left, top, extent }: Plane,
  at: number,
): number {
  const { rows: k, cols } = problem.pooled;
  const places = panelCentroids(problem, moment.centroids.subarray(at * k * cols, (at + 1) * k * cols));
  let count = 0;
  for (let i = 0; i < places.length; i += 2) {
    const [x, y] = [places[i] - left, top - places[i + 1]];
    if (x < 0 || y < 0 || x > extent || y > extent) count++;
  }
  return count;
}

/** In the reader's own units. */
function aboutRow({ datasets }: PackedProblem, device: number, row: number, own: OwnData | undefined): string {
  const { data, cols } = datasets[device];
  const values = Array.from(data.subarray(row * cols, (row + 1) * cols), (value, c) => {
    const [offset, scale] = own === undefined ? [0, 1] : [own.scaling.offset[c], own.scaling.scale[c]];
    const name = own?.used[c] ?? ["x", "y"][c] ?? `x${c + 1}`;
    return `${name} ${significantLabel(value * scale + offset, 4)}`;
  });
  return `Row ${row + 1}: ${values.join(", ")}.`;
}
