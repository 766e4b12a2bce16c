// Three hospitals, each with its own patients, agree on two clusters without pooling a record.

import { fit, graph, matrix, predict } from "@fedkm/core";

const north = matrix([
  [1.0, 2.1],
  [0.8, 1.9],
  [7.9, 8.2],
  [8.1, 7.7],
]);
const south = matrix([
  [1.2, 2.0],
  [0.9, 2.3],
  [8.3, 8.0],
]);
const coast = matrix([
  [1.1, 1.8],
  [8.0, 8.4],
  [7.7, 8.1],
  [8.2, 7.9],
]);
const links = graph(3, [
  [0, 1],
  [1, 2],
]);

const model = fit([north, south, coast], links, { k: 2, alpha: 1, seed: 1 });

for (const [device, centroids] of model.centroids.entries()) {
  console.log(device, Array.from(centroids.data, (x) => x.toFixed(2)).join(" "));
}
console.log("labels in the north:", predict(model.centroids[0], north).join(" "));
console.log(`${model.rounds} rounds, ${model.messages} messages, ${model.bytes} bytes, no record sent`);
