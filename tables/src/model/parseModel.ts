// A model from its text: everything that is used is checked, so that an edited or older file is refused and not misread.

import { DataError, dateRules, type Encoding, encodedColumns, missingPolicies, textEncodings } from "@fedkm/files";
import { MODEL_FORMAT, MODEL_VERSIONS, type Model } from "./model.ts";

/** `file` is what it is called. */
export function parseModel(text: string, file = "model.json"): Model {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const remedy = "name the model.json that fedkm fit wrote, or write it again";
    throw new DataError({ file, line: 1, column: 1 }, "begin a whole JSON object", "other text", remedy, {
      cause: error,
    });
  }
  return checkModel(file, value);
}

type Fields = Readonly<Record<string, unknown>>;
type Refuse = (path: string, rule: string, got: unknown) => never;

function refusalOf(file: string): Refuse {
  return (path, rule, got) => {
    const shown = JSON.stringify(got)?.slice(0, 40) ?? "nothing";
    throw new DataError({ file }, `have ${rule} as ${path}`, shown, "write it again with fedkm fit");
  };
}

/** Rule by rule from the outside in; the first that is broken is named. */
function checkModel(file: string, value: unknown): Model {
  const refuse: Refuse = refusalOf(file);
  const fields = (path: string, of: unknown): Fields =>
    typeof of === "object" && of !== null && !Array.isArray(of) ? (of as Fields) : refuse(path, "an object", of);
  const numbers = (path: string, of: unknown, length: number) =>
    Array.isArray(of) && of.length === length && of.every(Number.isFinite)
      ? (of as number[])
      : refuse(path, `${length} numbers`, of);

  const model = fields("the whole", value);
  if (model.format !== MODEL_FORMAT) refuse("format", JSON.stringify(MODEL_FORMAT), model.format);
  if (!MODEL_VERSIONS.some((version) => version === model.version)) {
    refuse("version", `${MODEL_VERSIONS.join(" or ")} (of this fedkm)`, model.version);
  }
  const { columns } = model;
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every((name) => typeof name === "string")) {
    refuse("columns", "names", columns);
  }
  const d = (columns as string[]).length;
  const { k } = fields("options", model.options);
  if (!Number.isInteger(k) || (k as number) < 1) refuse("options.k", "a whole number above 0", k);
  const scaling = fields("scaling", model.scaling);
  numbers("scaling.offset", scaling.offset, d);
  if (numbers("scaling.scale", scaling.scale, d).some((scale) => scale <= 0)) {
    refuse("scaling.scale", "numbers above 0", scaling.scale);
  }
  checkTransforms(scaling.transforms, d, refuse);
  if (model.encoding !== undefined) checkEncoding(model.encoding, columns as string[], refuse);
  if (model.reading !== undefined) checkReading(fields("reading", model.reading), refuse);
  const { policy, fill } = fields("missing", model.missing);
  if (!missingPolicies.some((own) => own === policy)) {
    refuse("missing.policy", `one of ${missingPolicies.join(", ")}`, policy);
  }
  if (policy === "mean" || fill !== undefined) numbers("missing.fill", fill, d);
  const { devices } = model;
  if (!Array.isArray(devices) || devices.length === 0) refuse("devices", "a list", devices);
  (devices as unknown[]).forEach((device, i) => {
    const { name, centroids } = fields(`devices[${i}]`, device);
    if (typeof name !== "string") refuse(`devices[${i}].name`, "a text", name);
    if (!Array.isArray(centroids) || centroids.length !== k) refuse(`devices[${i}].centroids`, `${k} rows`, centroids);
    (centroids as unknown[]).forEach((row, c) => {
      numbers(`devices[${i}].centroids[${c}]`, row, d);
    });
  });
  return value as Model;
}

/** The options by which files are read, each of its own type. */
function checkReading(reading: Fields, refuse: Refuse): void {
  const isText = (own: unknown) => typeof own === "string";
  const isForm = (own: unknown) => typeof own === "object" && own !== null && Object.values(own).every(isText);
  const types: Readonly<Record<string, (own: unknown) => boolean>> = {
    delimiter: (own) => isText(own) && (own as string).length === 1,
    header: (own) => typeof own === "boolean",
    decimal: (own) => own === "." || own === ",",
    na: (own) => Array.isArray(own) && own.every(isText),
    dates: (own) => dateRules.some((rule) => rule === own),
    encoding: (own) => isText(own) && Object.hasOwn(textEncodings, own as string),
    sheet: isText,
    deviceColumn: isText,
    forms: (own) => typeof own === "object" && own !== null && Object.values(own).every(isForm),
  };
  for (const [name, value] of Object.entries(reading)) {
    if (!Object.hasOwn(types, name) || !types[name](value)) refuse(`reading.${name}`, "an option of fedkm fit", value);
  }
}

function checkEncoding(encoding: unknown, columns: readonly string[], refuse: Refuse): void {
  const isColumn = (own: unknown) => {
    const { name, values = [] } = (own ?? {}) as Fields;
    return typeof name === "string" && Array.isArray(values) && values.every((value) => typeof value === "string");
  };
  if (!Array.isArray(encoding) || !encoding.every(isColumn)) refuse("encoding", "names and values", encoding);
  const names = encodedColumns(encoding as Encoding);
  if (names.length !== columns.length || names.some((name, c) => name !== columns[c])) {
    refuse("encoding", `what gives the columns ${columns.join(", ")}`, names);
  }
}

function checkTransforms(transforms: unknown, d: number, refuse: Refuse): void {
  if (transforms === undefined) return;
  const isRising = (of: unknown) =>
    Array.isArray(of) && of.length > 0 && of.every((own, i) => Number.isFinite(own) && (i === 0 || own > of[i - 1]));
  const isTransform = (own: unknown) => {
    if (own === null) return true;
    const { kind, knots, shares } = (own ?? {}) as Fields;
    if (kind === "log") return true;
    return kind === "rank" && isRising(knots) && isRising(shares) && (knots as []).length === (shares as []).length;
  };
  if (!Array.isArray(transforms) || transforms.length !== d || !transforms.every(isTransform)) {
    refuse("scaling.transforms", `${d} of null, "log" and "rank" with rising knots and shares`, transforms);
  }
}

/** As `parseModel`, and with options, sizes, links and history that can be computed with: what its certificate needs. */
export function parseWholeModel(text: string, file = "model.json"): Model {
  const model = parseModel(text, file);
  const must = (holds: boolean, path: string, rule: string, got: unknown): void => {
    if (!holds) refusalOf(file)(path, rule, got);
  };
  const { alpha, method, graph, seed, tol, penalty } = model.options;
  must(isAmount(alpha), "options.alpha", "a number of at least 0", alpha);
  must(typeof method === "string", "options.method", "a text", method);
  must(typeof graph === "string", "options.graph", "a text", graph);
  must(Number.isSafeInteger(seed), "options.seed", "a whole number", seed);
  must(tol === undefined || isAmount(tol), "options.tol", "a number of at least 0", tol);
  const isPenalty =
    penalty === undefined ||
    penalty === "squared" ||
    (["norm", "truncated"].includes(penalty?.name) && isAmount(penalty.scale) && penalty.scale > 0);
  must(isPenalty, "options.penalty", 'squared, or "norm" or "truncated" with a scale above 0,', penalty);
  model.devices.forEach(({ rows, sizes }, i) => {
    must(isAmount(rows), `devices[${i}].rows`, "a number of at least 0", rows);
    const { k } = model.options;
    const isWhole = Array.isArray(sizes) && sizes.length === k && sizes.every(isAmount);
    must(isWhole, `devices[${i}].sizes`, `${k} numbers`, sizes);
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

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
