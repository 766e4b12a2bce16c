// The six guided stops: each is a saved state with two sentences.

import { defaultSetup, type Setup } from "../engine/setup.ts";

function stop(title: string, words: string, changes: Partial<Setup>, round = 0) {
  return { title, words, setup: { ...defaultSetup, ...changes }, round };
}

export const stops = [
  stop(
    "Alone is not enough",
    "Every device has a few points of the same three clusters, and alpha is 0: each runs k-means alone, and each finds something else. GCD, below, says how far they are from what all points together would give.",
    { data: "tiny", points: 60, devices: 12, alpha: 0, seed: 4 },
  ),
  stop(
    "Turn alpha",
    "Now neighbours pull at each other with alpha 1, and only centroids travel. Press play: after a few rounds devices that hardly had data know what the others know; turn alpha and see how much they agree.",
    { data: "var", points: 40, devices: 12, start: "local", seed: 2 },
  ),
  stop(
    "One bad start infects all, and the cure",
    "Device 3 began with all its centroids in one cluster, and by the paper's own rules its neighbours follow it into the wrong answer. Choose the dependable rules instead: every device also tries its neighbours' centroids, and the error does not survive the first round.",
    { preset: "paper", events: [{ round: 0, kind: "wrong", device: 3 }] },
  ),
  stop(
    "Two communities",
    "Half of the devices have other clusters than the other half, and a few links lead across. A small alpha lets each community be right for itself; a large one forces an average that describes nobody.",
    { data: "communities", graph: "communities", devices: 12, alpha: 0.01, k: 3 },
  ),
  stop(
    "What a neighbour can learn",
    "On a chain of two, the neighbour of device 0 knows all that pulls at it. From two rounds of its centroids it can compute the exact means and sizes of device 0's clusters, so that what travels is not harmless by itself.",
    { devices: 2, graph: "path", points: 40, preset: "paper", data: "var", seed: 3 },
    2,
  ),
  stop(
    "A liar",
    "Device 0 sends the same lie from round 20 on, and all others are pulled towards it. It leaves at round 120: the devices look for their clusters again from their own points, and nothing of the lie stays.",
    {
      events: [
        { round: 20, kind: "lie", device: 0 },
        { round: 120, kind: "leave", device: 0 },
      ],
    },
  ),
];
