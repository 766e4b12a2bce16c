// Why a number of clusters is a candidate, in one sentence: for choose, for fit and for owners of devices.

const sentences = {
  most: (k: number) => `k = ${k}: the most clusters that have a gap to all their neighbours.`,
  fewer: (k: number) => `k = ${k}: all of them have gaps too, and some are what k above divides.`,
  coarse: (k: number) => `k = ${k}: the coarsest division with gaps.`,
  long: (k: number) =>
    `k = ${k}: long clusters side by side, which have gaps on other axes than the columns. A fit on the columns may cut across them.`,
  none: () => "The rows are spread like one cluster, or evenly: no gap can be shown at any k.",
  elbow: (k: number) => `k = ${k}: the cost of the rows bends here. Groups of rows show no gaps, so this is uncertain.`,
  silhouette: (k: number) => `k = ${k}: the silhouette is highest. Groups of rows show no gaps, so this is uncertain.`,
} as const;

type Reason = keyof typeof sentences;

/** Why this number of clusters is a candidate. */
export const candidateWords = ({ k, reason }: { readonly k: number; readonly reason: Reason }) => sentences[reason](k);

/** The same for what the devices of a study have found. */
export function chosenWords({ k, found, reason }: { k: number; found: number; reason: Reason }): string {
  const strays = `A fit finds these ${found} with k = ${k}: the others of its clusters are strays or tails.`;
  return found === k || reason === "none"
    ? candidateWords({ k, reason })
    : `${candidateWords({ k: found, reason })} ${strays}`;
}
