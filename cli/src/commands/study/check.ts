// fedkm study check: what a study means, and whether files fit it.

import { contractOf, frameBytes, parseStudy, type Study, scaleRows, studyId, whatTrustMeans } from "@fedkm/device";
import { readPoints, readStudyText } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { count } from "../../numbers.ts";
import { alignColumns } from "../../table.ts";

interface DataFit {
  readonly file: string;
  readonly rows: number;
  readonly rowsOutside: number;
}

export async function checkStudy(
  file: string,
  { data = [], json }: { data?: readonly string[]; json?: boolean },
  { stdout }: Console,
): Promise<void> {
  const study = parseStudy(readStudyText(file));
  const hash = studyId(await contractOf(study));
  const fits: DataFit[] = [];
  for (const path of data) {
    const points = await readPoints(path, study, process.env);
    fits.push({ file: path, rows: points.rows, rowsOutside: points.rows - scaleRows(study, points).rows });
  }
  const facts = { study, hash, frameBytes: frame(study), data: fits };
  stdout.write(json ? `${JSON.stringify(facts, undefined, 2)}\n` : `${describe(facts).join("\n")}\n`);
}

function frame({ k, features }: Study): number {
  return frameBytes({ k, d: features.length });
}

interface Facts {
  readonly study: Study;
  readonly hash: string;
  readonly frameBytes: number;
  readonly data: readonly DataFit[];
}

function describe({ study, hash, frameBytes: bytes, data }: Facts): string[] {
  const { name, k, alpha, coupling, weighting, privacy, minimum, features } = study;
  const heading = ["feature", "unit", "min", "max", "scale"];
  const rows = features.map((feature) => [
    feature.name,
    feature.unit,
    String(feature.min),
    String(feature.max),
    String(feature.scale),
  ]);
  const fits = data.map(({ file, rows: all, rowsOutside }) => {
    const enough =
      all - rowsOutside >= k * minimum
        ? ""
        : `; fewer than ${k * minimum} that count: it would send nothing of its own`;
    return `${file}: ${count(all)} rows, ${count(rowsOutside)} outside the bounds${enough}`;
  });
  return [
    study.clusters === "shared"
      ? `${name}: k = ${k}, shared clusters against ${study.colluders} colluders, privacy ${privacy}, minimum ${minimum}`
      : `${name}: k = ${k}, alpha = ${alpha}, coupling ${coupling}, weighting ${weighting}, privacy ${privacy}, minimum ${minimum}`,
    ...(study.neighbours === "trusted" ? [whatTrustMeans] : []),
    "",
    ...alignColumns([heading, ...rows]),
    "",
    `hash ${hash}, frames of ${count(bytes)} bytes`,
    ...fits,
  ];
}
