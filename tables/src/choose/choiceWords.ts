// Why a number of clusters is a candidate, in one sentence: for choose, for fit and for owners of devices.

import type { ClusterChoice, KCandidate } from "@fedkm/core";

/** Devices of a study may also say where groups of rows bend a curve. */
type Reason = KCandidate["reason"] | "elbow" | "silhouette";

const sentences: Readonly<Record<Reason, (k: number) => string>> = {
  most: (k) => `k = ${k}: the most clusters that have a gap to all their neighbours.`,
  fewer: (k) => `k = ${k}: all of them have gaps too, and some are what k above divides.`,
  coarse: (k) => `k = ${k}: the coarsest division with gaps.`,
  long: (k) =>
    `k = ${k}: long clusters side by side, which have gaps on other axes than the columns. A fit on the columns may cut across them.`,
  none: () => "The rows are spread like one cluster, or evenly: no gap can be shown at any k.",
  elbow: (k) => `k = ${k}: the cost of the rows bends here. Groups of rows show no gaps, so this is uncertain.`,
  silhouette: (k) => `k = ${k}: the silhouette is highest. Groups of rows show no gaps, so this is uncertain.`,
};

/** Why a number of clusters is a candidate. */
export const candidateWords = ({ k, reason }: { readonly k: number; readonly reason: Reason }) => sentences[reason](k);

/** How a fit came to its k, where nobody said it. */
export function clusterChoiceWords({ k, fitted, groups, clusters: { candidates } }: ClusterChoice): string {
  if (groups.length > 1)
    return `k = ${k} in each of ${groups.length} groups of devices, whose clusters are not each other's.`;
  const isLong = ({ reason }: KCandidate) => reason === "long";
  const [chosen, ...others] = candidates.filter((own) => !isLong(own));
  const also = others.map((own) => `k = ${own.fitted}`).join(" and ");
  return [
    chosen.reason === "none"
      ? "k = 1: no gap can be shown at any k. A larger k divides the rows all the same."
      : candidateWords(chosen),
    ...(fitted === chosen.k ? [] : [`A fit finds them with k = ${fitted}: the others are strays or tails.`]),
    ...(also === "" ? [] : [`Also possible: ${also}.`]),
    ...candidates.filter(isLong).map(candidateWords),
  ].join(" ");
}

/** Why a number is a candidate of the devices of a study. */
export function chosenWords({ k, found, reason }: { k: number; found: number; reason: Reason }): string {
  const strays = `A fit finds these ${found} with k = ${k}: the others of its clusters are strays or tails.`;
  return found === k || reason === "none"
    ? candidateWords({ k, reason })
    : `${candidateWords({ k: found, reason })} ${strays}`;
}
