// How the most telling columns are spread in each cluster: small histograms on one axis, one below the other.

import { firstEncodedColumns, unscaled } from "@fedkm/files";
import { escaped } from "@fedkm/pictures";
import type { FittedRows } from "../model/clusterSums.ts";
import { encodingOfModel } from "../model/model.ts";
import type { Trait } from "../model/profile.ts";
import { readableDate, readableValue } from "../numbers.ts";
import { reportColour, reportName } from "./marks.ts";

const MOST_COLUMNS = 6;
const MOST_CLUSTERS = 12;
const BINS = 32;
/** So many of the rows at either end lie in the outermost bars, so that a few do not flatten all. */
const TAIL = 0.005;

const WIDTH = 300;
const LEFT = 24;
const LINE = 26;
const AXIS = 18;

/** Empty where no column of numbers tells clusters apart. */
export function distributionPictures(fitted: FittedRows, traits: readonly Trait[], least: number): string {
  const { model } = fitted;
  const encoding = encodingOfModel(model);
  const firsts = firstEncodedColumns(encoding);
  const shown = traits
    .filter(({ kind, strength }) => kind !== "categories" && strength >= least)
    .slice(0, MOST_COLUMNS);
  if (shown.length === 0) return "";
  const pictures = shown.map((trait) =>
    picture(fitted, trait, firsts[encoding.findIndex(({ name }) => name === trait.name)]),
  );
  return `<p>How the rows of each cluster are spread: bars are shares of the cluster's rows, and the outermost hold what lies beyond.</p>
<div class="multiples">${pictures.join("")}</div>`;
}

function picture({ model, datasets, labels }: FittedRows, { name, kind }: Trait, column: number): string {
  const { scaling } = model;
  const k = Math.min(MOST_CLUSTERS, model.clusters.length);
  const all = Float64Array.from(
    datasets.flatMap(({ data, rows, cols }) => Array.from({ length: rows }, (_, r) => data[r * cols + column])),
  ).sort();
  const beyond = Math.floor(TAIL * all.length);
  const [low, high] = [all[beyond], all[all.length - 1 - beyond]];
  const span = high > low ? high - low : 1;
  const counts = Array.from({ length: k }, () => new Float64Array(BINS));
  datasets.forEach(({ data, rows, cols }, i) => {
    for (let r = 0; r < rows; r++) {
      const bin = Math.floor((BINS * (data[r * cols + column] - low)) / span);
      if (labels[i][r] < k) counts[labels[i][r]][Math.min(BINS - 1, Math.max(0, bin))]++;
    }
  });
  const shares = counts.map((own, c) => own.map((count) => count / Math.max(1, model.clusters[c].rows)));
  const most = Math.max(...shares.flatMap((own) => [...own]));
  const bar = (WIDTH - LEFT) / BINS;
  const lines = shares.map((own, c) => {
    const foot = (c + 1) * LINE;
    const steps = Array.from(own, (share, b) => {
      const height = most > 0 ? ((LINE - 4) * share) / most : 0;
      const x = LEFT + b * bar;
      return height === 0 ? "" : `M${x.toFixed(1)},${foot}v${(-height).toFixed(1)}h${bar.toFixed(1)}V${foot}z`;
    });
    return `<g data-cluster="${c}"><text x="0" y="${foot - 6}" fill="var(--ink)">${c}</text><path d="${steps.join("")}" fill="${reportColour(c)}"/><path d="M${LEFT},${foot}H${WIDTH}" stroke="var(--faint)"/></g>`;
  });
  const inUnits = (scaled: number) => {
    const value = unscaled(scaling, column, scaled);
    return kind === "date" ? readableDate(value) : readableValue(value);
  };
  const labelled = (["start", "middle", "end"] as const).map((anchor, i) => {
    const x = LEFT + (i * (WIDTH - LEFT)) / 2;
    return `<text x="${x}" y="${k * LINE + 14}" text-anchor="${anchor}" fill="var(--quiet)">${escaped(inUnits(low + (i * span) / 2))}</text>`;
  });
  const said = `${name} in ${model.clusters
    .slice(0, k)
    .map((_, c) => reportName(model, c))
    .join(", ")}`;
  return `<figure class="strip"><figcaption>${escaped(name)}</figcaption><svg viewBox="0 0 ${WIDTH} ${k * LINE + AXIS}" width="${WIDTH}" font-size="12" role="img" aria-label="${escaped(said)}">${lines.join("")}${labelled.join("")}</svg></figure>`;
}
