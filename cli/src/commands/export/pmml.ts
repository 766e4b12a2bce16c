// A model as PMML 4.4: a ClusteringModel over derived fields that scale the columns of the files.

import { escaped } from "@fedkm/pictures";
import type { LabelColumn, Labelling } from "../../model/labelling.ts";

export function pmmlOf({ columns, centroids, names, place }: Labelling): string {
  const fields = [...new Set(columns.map(({ name }) => name))].map((name) =>
    columns.filter((own) => own.name === name),
  );
  const dictionary = fields.map((own) => dataField(own));
  const about = place === undefined ? "clusters of all places" : `clusters of ${place}`;
  const scaled = columns.map((column, x) => derivedField(`x${x}`, scaledOf(column)));
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
${fields.map(([{ name }]) => `<MiningField name="${escaped(name)}" missingValueTreatment="asIs" invalidValueTreatment="asMissing"/>`).join("\n")}
</MiningSchema>
<Output><OutputField name="cluster" optype="categorical" dataType="string" feature="predictedValue"/></Output>
<LocalTransformations>
${scaled.join("\n")}
</LocalTransformations>
<ComparisonMeasure kind="distance"><squaredEuclidean/></ComparisonMeasure>
${columns.map((_, x) => `<ClusteringField field="x${x}" compareFunction="absDiff"/>`).join("\n")}
${clusters.join("\n")}
</ClusteringModel>
</PMML>
`;
}

function dataField(columns: readonly LabelColumn[]): string {
  const [{ name, value }] = columns;
  if (value === undefined) return `<DataField name="${escaped(name)}" optype="continuous" dataType="double"/>`;
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
  const filled = (of: string, missing = apply("isMissing", field)) =>
    fill === undefined ? of : apply("if", missing, constant(fill), of);
  if (value !== undefined) {
    const known = apply("equal", field, `<Constant dataType="string">${escaped(value)}</Constant>`);
    return filled(apply("if", known, constant(1), constant(0)));
  }
  if (transform === null) return filled(field);
  if (transform.kind === "log") {
    const none = apply("or", apply("isMissing", field), apply("lessOrEqual", field, constant(0)));
    return apply("ln", filled(field, none));
  }
  const { knots, shares } = transform;
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
