// A reader of clustering models in PMML 4.4 that follows the specification and knows nothing of fedkm. What a model may not
// have is an error, also where a kind evaluator would look away.

import { DOMParser } from "linkedom";

type Value = number | string | boolean | undefined;
type Row = Readonly<Record<string, string>>;

const childrenOf = (element: Element) => Array.from(element.children);
const numberOf = (element: Element, name: string, otherwise = Number.NaN) =>
  element.hasAttribute(name) ? Number(element.getAttribute(name)) : otherwise;

function nameOf(element: Element, attribute = "name"): string {
  const name = element.getAttribute(attribute);
  if (name === null) throw new Error(`${element.tagName} must have ${attribute}`);
  return name.replaceAll(/&(lt|gt|quot|amp);/g, (_, letters: keyof typeof entities) => entities[letters]);
}

/** The parser leaves them in attributes as they are. */
const entities = { lt: "<", gt: ">", quot: '"', amp: "&" };

/** A function from the cells of a row to the id of its cluster; undefined where the result is invalid. Empty cells are missing. */
export function pmmlClusters(text: string): (row: Row) => string | undefined {
  const document = new DOMParser().parseFromString(text, "text/xml");
  const all = (selector: string) => Array.from(document.querySelectorAll(selector)) as unknown as Element[];
  const data = new Map(all("DataDictionary > DataField").map((field) => [nameOf(field), field]));
  const derived = new Map(all("LocalTransformations > DerivedField").map((field) => [nameOf(field), field]));
  for (const name of derived.keys()) if (data.has(name)) throw new Error(`two fields are called ${name}`);
  const mined = all("MiningSchema > MiningField");
  if (all("ComparisonMeasure[kind=distance] > squaredEuclidean").length !== 1) throw new Error("another measure");
  const fields = all("ClusteringModel > ClusteringField").map((field) => nameOf(field, "field"));
  const clusters = all("ClusteringModel > Cluster").map((cluster) => ({
    id: nameOf(cluster, "id"),
    centre: arrayOf(childrenOf(cluster)[0], fields.length),
  }));
  if (clusters.length !== numberOf(all("ClusteringModel")[0], "numberOfClusters")) throw new Error("other clusters");
  return (row) => {
    const values = new Map<string, Value>();
    for (const field of mined) {
      const value = minedValue(field, data.get(nameOf(field)), row[nameOf(field)]);
      if (value === INVALID) return undefined;
      values.set(nameOf(field), value);
    }
    const coordinates = fields.map((name) => {
      const [expression] = childrenOf(derived.get(name) as Element);
      return evaluated(expression, values) as number | undefined;
    });
    const distances = clusters.map(({ centre }) => distance(coordinates, centre));
    return clusters[distances.indexOf(Math.min(...distances))].id;
  };
}

const INVALID = Symbol("invalid");

function minedValue(mined: Element, field: Element | undefined, cell: string | undefined): Value | typeof INVALID {
  if (cell === undefined) throw new Error(`no cell of ${nameOf(mined)}`);
  if (field === undefined) throw new Error(`no field ${nameOf(mined)} in the dictionary`);
  const isReturned = (what: string) => mined.getAttribute(`${what}ValueTreatment`) === "returnInvalid";
  const missing = () => (isReturned("missing") ? INVALID : undefined);
  if (cell === "") return missing();
  const value = field.getAttribute("dataType") === "double" ? Number(cell) : cell;
  if (isValid(field, value)) return value;
  return mined.getAttribute("invalidValueTreatment") === "asMissing" ? missing() : INVALID;
}

function isValid(field: Element, value: number | string): boolean {
  const listed = childrenOf(field);
  const isIn = (part: Element) => {
    if (part.tagName === "Value") return nameOf(part, "value") === value;
    if (part.getAttribute("closure") !== "openOpen") throw new Error("another interval");
    return (
      Number(value) > numberOf(part, "leftMargin", Number.NEGATIVE_INFINITY) &&
      Number(value) < numberOf(part, "rightMargin", Number.POSITIVE_INFINITY)
    );
  };
  return listed.length === 0 || listed.some(isIn);
}

function evaluated(expression: Element, values: ReadonlyMap<string, Value>): Value {
  const parts = childrenOf(expression);
  switch (expression.tagName) {
    case "Constant":
      return expression.getAttribute("dataType") === "double"
        ? Number(expression.textContent)
        : (expression.textContent ?? "");
    case "FieldRef":
      return known(values, nameOf(expression, "field"));
    case "NormContinuous":
      return normalised(expression, known(values, nameOf(expression, "field")) as number | undefined);
    case "Apply":
      return applied(nameOf(expression, "function"), parts, values);
    default:
      throw new Error(`expression ${expression.tagName}`);
  }
}

function known(values: ReadonlyMap<string, Value>, name: string): Value {
  if (!values.has(name)) throw new Error(`no field ${name}`);
  return values.get(name);
}

const functions: Readonly<Record<string, (...of: never[]) => Value>> = {
  "-": (a: number, b: number) => a - b,
  "/": (a: number, b: number) => a / b,
  ln: (a: number) => Math.log(a),
  equal: (a: Value, b: Value) => a === b,
};

/** A missing argument makes the result missing, but for the functions that ask for it. */
function applied(name: string, parts: readonly Element[], values: ReadonlyMap<string, Value>): Value {
  const part = (at: number) => evaluated(parts[at], values);
  if (name === "isMissing") return part(0) === undefined;
  if (name === "if") {
    const condition = part(0);
    return condition === undefined ? undefined : condition ? part(1) : part(2);
  }
  const given = parts.map((_, at) => part(at));
  if (!Object.hasOwn(functions, name)) throw new Error(`function ${name}`);
  return given.includes(undefined) ? undefined : functions[name](...(given as never[]));
}

/** On straight lines between points that rise; outside as the nearest one. */
function normalised(expression: Element, value: number | undefined): number | undefined {
  const points = childrenOf(expression).map((own) => ({ orig: numberOf(own, "orig"), norm: numberOf(own, "norm") }));
  if (points.length < 2) throw new Error("a line of fewer than two points");
  if (points.some(({ orig }, i) => i > 0 && !(orig > points[i - 1].orig))) throw new Error("points that do not rise");
  if (expression.getAttribute("outliers") !== "asExtremeValues") throw new Error("other outliers");
  if (value === undefined) return numberOf(expression, "mapMissingTo", undefined);
  const next = points.findIndex(({ orig }) => value < orig);
  if (next === 0) return points[0].norm;
  if (next < 0) return points[points.length - 1].norm;
  const [from, to] = [points[next - 1], points[next]];
  return from.norm + ((value - from.orig) / (to.orig - from.orig)) * (to.norm - from.norm);
}

function arrayOf(array: Element, length: number): number[] {
  const numbers = (array.textContent ?? "").trim().split(/\s+/).map(Number);
  if (numbers.length !== length || numberOf(array, "n") !== length) throw new Error("a centre of another length");
  return numbers;
}

/** Over the fields that are there, and as much more as fields are missing. */
function distance(values: readonly (number | undefined)[], centre: readonly number[]): number {
  let [sum, present] = [0, 0];
  values.forEach((value, i) => {
    if (value === undefined) return;
    sum += (value - centre[i]) ** 2;
    present++;
  });
  return present === 0 ? Number.POSITIVE_INFINITY : (sum * values.length) / present;
}
