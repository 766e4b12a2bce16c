// A process whose device sends one of its rows on purpose. Run by wireScan.test.ts on the built device.

import { contractOf, studyOfPoints } from "../dist/index.js";
import { connectNeighbour, Neighbour } from "../dist/loop/neighbours.js";
import { OpeningSync } from "../dist/loop/openingSync.js";
import { Sender } from "../dist/loop/sender.js";
import { UpdateModel } from "../dist/loop/updateModel.js";
import { simulatedClock } from "../dist/simulation/clock.js";

const data = Float64Array.from({ length: 80 }, (_, i) => ((i * 7919) % 997) / 10);
const rows = { data, rows: 40, cols: 2 };
const study = { ...studyOfPoints([rows], ["x1", "x2"], { name: "planted", k: 2 }), privacy: "open" };
const model = new UpdateModel(study, rows, 0, undefined);
while (model.isRestarting) model.restart();
model.update([]);
const { features } = study;
model.centroids = {
  data: Float64Array.from(data.subarray(0, 4), (x, i) => x / features[i % 2].scale),
  rows: 2,
  cols: 2,
};
const parts = { self: "own", epoch: 1, k: 2, ranges: model.ranges, alpha: 1, saved: undefined };
const network = { self: "own", start: async () => {}, send: () => {}, close: async () => {} };
const contract = await contractOf(study);
const options = { contract, network, clock: simulatedClock(), epoch: 1, model, openingSync: new OpeningSync(parts) };
const neighbour = new Neighbour("other", 0);
connectNeighbour(neighbour);
new Sender(options).sendAll([neighbour]);
