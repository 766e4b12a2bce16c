// The six guided stops: each is a saved state with a few sentences, in which every control that they name changes the picture.

import { defaultSetup, fourClinics, type Setup } from "../engine/setup.ts";

const END = Number.POSITIVE_INFINITY;

function stop(title: string, words: string, changes: Partial<Setup>, round = END) {
  return { title, words, setup: { ...defaultSetup, ...changes }, round };
}

/** The first is what the page opens with. */
export const stops = [
  stop(
    "Alone is not enough",
    "Four clinics look for three clusters, and three of them have no row of one. With k-means alone each of these cuts or joins other clusters. By Algorithm 1 they send only centroids, the crosses, to two neighbours each, and all four find all three. Press Play to watch it; turn alpha to 0, and they are alone again.",
    fourClinics,
  ),
  stop(
    "Turn alpha",
    "Eleven of these twelve devices have only a few rows. Every alpha shows where they settle: at 0 each is alone and finds something else, with more they agree, at 100 all have one answer. GCD, below, says how far they are from what all rows together would give.",
    { data: "tiny", alpha: 0.01, seed: 4 },
  ),
  stop(
    "One bad start infects all, and the cure",
    "Device 3 began with all its centroids in one cluster, and by the paper's own rules its neighbours followed it into this wrong answer. Choose the dependable rules instead: every device also tries its neighbours' centroids, and the error does not survive the first round.",
    { preset: "paper", events: [{ round: 0, kind: "wrong", device: 3 }] },
  ),
  stop(
    "Two communities",
    "Half of the devices have other clusters than the other half, and a few links lead across. With this small alpha each community is right for itself. Turn alpha up: all agree on an average that describes nobody.",
    { data: "communities", graph: "communities", alpha: 0.01 },
  ),
  stop(
    "What a neighbour can learn",
    "On a chain of two, the neighbour of device 0 knows all that pulls at it. From two rounds of its centroids it can compute the exact means and sizes of device 0's clusters, so that what travels is not harmless by itself.",
    { devices: 2, graph: "path", points: 40, preset: "paper", data: "var", seed: 3 },
    2,
  ),
  stop(
    "A liar",
    "Device 0 has sent the same lie since round 20, and pulls all others towards it: the more, the larger alpha is. Press Play: it leaves at round 120, the devices look for their clusters again from their own rows, and nothing of the lie stays. Real devices by default leave out a neighbour that is so far off: tick “leave out liars”, and it pulls nobody.",
    {
      events: [
        { round: 20, kind: "lie", device: 0 },
        { round: 120, kind: "leave", device: 0 },
      ],
    },
    60,
  ),
];
