// A model as PMML 4.4: a ClusteringModel over derived fields that scale the columns of the files.

import { escaped } from "@fedkm/pictures";
import type { LabelColumn, Labelling } from "../../model/labelling.ts";

export function pmmlOf({ columns, centroids, names, place }: Labelling): string {
  const fields = [...new Set(columns.map(({ name }) => name))].map((name) =>
    columns.filter((own) => own.name === name),
  );
  const dictionary = fields.map((own) => dataField(own));
  const about = place === undefined ? "clusters of all places" : `clusters of ${place}`;
  const derived = derivedNames(columns);
  const scaled = columns.map((column, x) => derivedField(derived[x], scaledOf(column)));
  const clusters = centroids.map((centroid, c) => {
    const name = names === undefined ? "" : ` name="${escaped(names[c])}"`;
    return `<Cluster id="${c}"${name}><Array n="${centroid.length}" type="real">${centroid.join(" ")}</Array></Cluster>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
<Header description="${escaped(about)}"><Application name="fedkm"/></Header>
<DataDictionary numberOfFields="${fields.length}">
${dictionary.join("\n")}
</DataDictionary>
<ClusteringModel modelName="${escaped(about)}" functionName="clustering" modelClass="centerBased" numberOfClusters="${centroids.length}">
<MiningSchema>
${fields.map(([own]) => miningField(own)).join("\n")}
</MiningSchema>
<Output><OutputField name="cluster" optype="categorical" dataType="string" feature="predictedValue"/></Output>
<LocalTransformations>
${scaled.join("\n")}
</LocalTransformations>
<ComparisonMeasure kind="distance"><squaredEuclidean/></ComparisonMeasure>
${derived.map((name) => `<ClusteringField field="${name}" compareFunction="absDiff"/>`).join("\n")}
${clusters.join("\n")}
</ClusteringModel>
</PMML>
`;
}

/** That no column of the files has: a derived field of the same name would be derived from itself. */
function derivedNames(columns: readonly LabelColumn[]): string[] {
  const taken = new Set(columns.map(({ name }) => name));
  let stem = "fedkm_";
  while (columns.some((_, x) => taken.has(stem + x))) stem += "_";
  return columns.map((_, x) => stem + x);
}

/** Without a value in the place of missing cells their rows have no cluster; by itself PMML would take the other fields. */
function miningField({ name, fill }: LabelColumn): string {
  const treatments =
    fill === undefined
      ? 'missingValueTreatment="returnInvalid" invalidValueTreatment="returnInvalid"'
      : 'missingValueTreatment="asIs" invalidValueTreatment="asMissing"';
  return `<MiningField name="${escaped(name)}" ${treatments}/>`;
}

function dataField(columns: readonly LabelColumn[]): string {
  const [{ name, value, transform }] = columns;
  if (value === undefined) {
    // Others have no logarithm.
    const valid = transform?.kind === "log" ? '<Interval closure="openOpen" leftMargin="0"/>' : "";
    return `<DataField name="${escaped(name)}" optype="continuous" dataType="double">${valid}</DataField>`;
  }
  const values = columns.map((own) => `<Value value="${escaped(own.value ?? "")}"/>`);
  return `<DataField name="${escaped(name)}" optype="categorical" dataType="string">${values.join("")}</DataField>`;
}

function derivedField(name: string, content: string): string {
  return `<DerivedField name="${name}" optype="continuous" dataType="double">${content}</DerivedField>`;
}

const constant = (value: number) => `<Constant dataType="double">${value}</Constant>`;
const apply = (name: string, ...parts: string[]) => `<Apply function="${name}">${parts.join("")}</Apply>`;

function scaledOf(column: LabelColumn): string {
  const { offset, scale } = column;
  return apply("/", apply("-", beforeScale(column), constant(offset)), constant(scale));
}

/** Before it is scaled, with what takes the place of a missing cell. */
function beforeScale({ name, value, transform, fill }: LabelColumn): string {
  const field = `<FieldRef field="${escaped(name)}"/>`;
  const filled = (of: string) => (fill === undefined ? of : apply("if", apply("isMissing", field), constant(fill), of));
  if (value !== undefined) {
    const known = apply("equal", field, `<Constant dataType="string">${escaped(value)}</Constant>`);
    return filled(apply("if", known, constant(1), constant(0)));
  }
  if (transform === null) return filled(field);
  if (transform.kind === "log") return apply("ln", filled(field));
  const { knots, shares } = transform;
  // A line needs two points.
  if (knots.length === 1) return constant(shares[0]);
  const points = knots.map((knot, i) => `<LinearNorm orig="${knot}" norm="${shares[i]}"/>`).join("");
  const replaced = fill === undefined ? "" : ` mapMissingTo="${shareAt(transform, fill)}"`;
  return `<NormContinuous field="${escaped(name)}" outliers="asExtremeValues"${replaced}>${points}</NormContinuous>`;
}

function shareAt({ knots, shares }: Extract<LabelColumn["transform"], { kind: "rank" }>, x: number): number {
  const at = knots.findIndex((knot) => x < knot);
  if (at === 0) return shares[0];
  if (at < 0) return shares[shares.length - 1];
  return shares[at - 1] + ((x - knots[at - 1]) / (knots[at] - knots[at - 1])) * (shares[at] - shares[at - 1]);
}
