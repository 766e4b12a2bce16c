// A whole model from its file: also what only its certificate needs is checked, so that an edited file is refused and not misread.

import { parseStudy } from "@fedkm/device";
import { DataError } from "@fedkm/files";
import type { Model } from "./model.ts";
import { readModel } from "./read.ts";

/** As `readModel`, and with options, sizes, links and history that can be computed with. */
export function readWholeModel(file: string): Model {
  const model = readModel(file);
  const must = (holds: boolean, path: string, rule: string, got: unknown): void => {
    if (holds) return;
    const shown = JSON.stringify(got)?.slice(0, 40) ?? "nothing";
    throw new DataError({ file }, `have ${rule} as ${path}`, shown, "write it again with fedkm fit");
  };
  const { alpha, method, graph, seed, tolerance, penalty } = model.options;
  must(isAmount(alpha), "options.alpha", "a number of at least 0", alpha);
  must(typeof method === "string", "options.method", "a text", method);
  must(typeof graph === "string", "options.graph", "a text", graph);
  must(Number.isSafeInteger(seed), "options.seed", "a whole number", seed);
  must(tolerance === undefined || isAmount(tolerance), "options.tolerance", "a number of at least 0", tolerance);
  const isPenalty =
    penalty === undefined ||
    penalty === "squared" ||
    (["norm", "truncated"].includes(penalty?.name) && isAmount(penalty.scale) && penalty.scale > 0);
  must(isPenalty, "options.penalty", 'squared, or "norm" or "truncated" with a scale above 0,', penalty);
  must(model.study === undefined || isStudy(model.study), "study", "a whole study", model.study);
  model.devices.forEach(({ rows, sizes }, i) => {
    must(isAmount(rows), `devices[${i}].rows`, "a number of at least 0", rows);
    const { k } = model.options;
    must(
      Array.isArray(sizes) && sizes.length === k && sizes.every(isAmount),
      `devices[${i}].sizes`,
      `${k} numbers`,
      sizes,
    );
  });
  const { clusters } = model;
  must(clusters === undefined || Array.isArray(clusters), "clusters", "a list", clusters);
  const names = new Set(model.devices.map(({ name }) => name));
  must(names.size === model.devices.length, "devices", "a list of different names", [...names]);
  must(Array.isArray(model.links), "links", "a list", model.links);
  model.links.forEach(({ devices, weight }, i) => {
    const isPair = Array.isArray(devices) && devices.length === 2 && devices.every((name) => names.has(name));
    must(isPair && isAmount(weight), `links[${i}]`, "two devices and a weight", model.links[i]);
  });
  must(Number.isFinite(model.objective), "objective", "a number", model.objective);
  const { history } = model;
  must(Array.isArray(history) && history.length > 0, "history", "a list", history);
  history.forEach(({ objective }, i) => {
    must(Number.isFinite(objective), `history[${i}].objective`, "a number", objective);
  });
  for (const [name, value] of Object.entries(model.certificate ?? {})) {
    must(Number.isFinite(value), `certificate.${name}`, "a number", value);
  }
  return model;
}

function isStudy(value: unknown): boolean {
  try {
    parseStudy(JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
