// What the devices of a study have found of k, in a sentence or two for their owners.

import type { ChosenStatus } from "@fedkm/device";
import { candidateWords } from "@fedkm/tables";

export function chosenWords({ k, found, reason }: ChosenStatus["candidates"][number]): string {
  const strays = `A fit finds these ${found} with k = ${k}: the others of its clusters are strays or tails.`;
  return found === k || reason === "none"
    ? candidateWords({ k, reason })
    : `${candidateWords({ k: found, reason })} ${strays}`;
}
