// A device beside its network: what sums over all devices say of the clusters, and what its own rows say.

import { escaped, type HtmlCell, htmlTable } from "@fedkm/pictures";
import type { FittedRows } from "../model/clusterSums.ts";
import { countLabel, percent } from "../numbers.ts";
import { NOTHING, reportList, reportMark } from "./marks.ts";

/** Of rows: how many are in each cluster, the mean squared distance to its centroid, the silhouette, the share far from it. */
interface RowFigures {
  readonly rows: number;
  readonly sizes: readonly number[];
  readonly cost: number;
  readonly silhouette: number;
  readonly farShare: number;
}

export interface NetworkFigures {
  readonly all: RowFigures;
  readonly own: RowFigures;
  readonly verdict: string;
  /** Of each cluster: how alike it is in replicates, and half the width of the 90 % interval of its share of the rows. */
  readonly jaccards: readonly number[] | null;
  readonly shareErrors: readonly number[] | null;
  readonly differences: readonly { readonly feature: string; readonly spreads: number }[];
}

/** A mean that is off by fewer spreads is not worth a word. */
const WORTH_SAYING = 0.2;

const verdictSentences: Readonly<Record<string, string>> = {
  clear: "The clusters of the network are clearly apart.",
  weak: "Some clusters of the network are apart, others run into each other.",
  none: "No gap between the clusters of the network can be shown.",
  "too few rows": "All devices together have too few rows to say whether clusters are apart.",
};

export function networkSection({ model }: Pick<FittedRows, "model">, figures: NetworkFigures): string {
  const { all, own, verdict, jaccards, shareErrors, differences } = figures;
  const share = (size: number, rows: number) => percent(size / Math.max(1, rows));
  const lines = ([all, own] as const).map((of, i) => [
    i === 0 ? "all devices" : "this device",
    ...[countLabel(of.rows), of.cost.toPrecision(4), of.silhouette.toFixed(3), percent(of.farShare)],
  ]);
  const clusters = model.clusters.map((_, c): HtmlCell[] => [
    { html: reportMark(model, c), attributes: `data-cluster="${c}"` },
    `${share(all.sizes[c], all.rows)}${shareErrors === null ? "" : ` ± ${percent(shareErrors[c])}`}`,
    share(own.sizes[c], own.rows),
    jaccards === null ? NOTHING : jaccards[c].toFixed(2),
  ]);
  const apart = differences
    .filter(({ spreads }) => Math.abs(spreads) >= WORTH_SAYING)
    .sort((a, b) => Math.abs(b.spreads) - Math.abs(a.spreads))
    .map(({ feature, spreads }) => `${feature} (${spreads > 0 ? "+" : "−"}${Math.abs(spreads).toFixed(2)})`);
  const differs =
    apart.length === 0
      ? "The means of this device's rows are those of all devices."
      : `By spreads of all rows, the means of this device differ in ${reportList(apart.slice(0, 6))}.`;
  const sentence = `${verdictSentences[verdict] ?? ""} ${differs} A row is far if it is three times as far from its centroid as rows of its cluster typically are. Intervals are of 90 %; found again is the Jaccard index in replicates, 1 where a cluster always comes out the same.`;
  return `<p>${escaped(sentence.trim())}</p>
${htmlTable({ heading: ["", "rows", "cost a row", "silhouette", "far"], rows: lines, names: 1 })}
${htmlTable({ heading: ["cluster", "of all rows", "of this device's", "found again"], rows: clusters, names: 1 })}`;
}
