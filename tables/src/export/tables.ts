// A model for programs that compute by themselves: JSON for scikit-learn and pandas, and centroids as CSV.

import { csvLine } from "@fedkm/files";
import type { Labelling } from "../model/labelling.ts";
import type { Model } from "../model/model.ts";

/** What three lines of Python need: see docs/model.md. */
export function sklearnOf({ columns, centroids, names, place }: Labelling): string {
  const words = columns.filter(({ value }) => value !== undefined);
  const label = ({ name, value }: (typeof columns)[number]) => (value === undefined ? name : `${name}=${value}`);
  const transformed = (kind: "log" | "rank") => columns.filter(({ transform }) => transform?.kind === kind);
  return `${JSON.stringify(
    {
      format: "fedkm-sklearn",
      place: place ?? null,
      inputs: [...new Set(columns.map(({ name }) => name))],
      categories: [...new Set(words.map(({ name }) => name))],
      columns: columns.map(label),
      fill: columns[0].fill === undefined ? null : Object.fromEntries(columns.map((own) => [label(own), own.fill])),
      log: transformed("log").map(label),
      rank: Object.fromEntries(
        transformed("rank").map((own) => [
          label(own),
          own.transform?.kind === "rank" && [own.transform.knots, own.transform.shares],
        ]),
      ),
      offset: columns.map(({ offset }) => offset),
      scale: columns.map(({ scale }) => scale),
      centroids,
      ...(names && { names }),
    },
    undefined,
    1,
  )}\n`;
}

/** One line for each cluster of each place, in the units of the files. */
export function centroidsOf({ devices, columns, clusters }: Model, place: number | undefined): string {
  const named = clusters?.some(({ name }) => name !== undefined);
  const rows = devices
    .filter((_, i) => place === undefined || i === place)
    .flatMap(({ name, sizes, centroids }) =>
      centroids.map((centroid, c) => [name, c, ...(named ? [clusters?.[c].name ?? ""] : []), sizes[c], ...centroid]),
    );
  const heading = ["place", "cluster", ...(named ? ["name"] : []), "rows", ...columns];
  return [heading, ...rows].map(csvLine).join("");
}
