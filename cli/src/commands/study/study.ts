// fedkm study: a first study file for a person to look over, and what a study file means and whether files fit it.

import { existsSync } from "node:fs";
import {
  contractOf,
  type Feature,
  frameBytes,
  hasOpenColumns,
  isReleasedInRounds,
  needsFounders,
  noiseOfRelease,
  parseStudy,
  privacyWords,
  type Study,
  scaleRows,
  studyId,
  whatTrustMeans,
} from "@fedkm/device";
import {
  draftStudyFile,
  foundedInFile,
  readTextFile,
  rowSourceColumns,
  rowSourcePoints,
  type StudyDraft,
  studyFileBounds,
} from "@fedkm/device/daemon";
import { alignColumns } from "@fedkm/pictures/terminal";
import { countLabel } from "@fedkm/tables/numbers";
import { type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { writeResultFile } from "../../write.ts";

export interface StudyInitOptions extends Omit<StudyDraft, "features"> {
  readonly feature?: readonly string[];
  readonly data?: string;
  readonly columns?: string;
  readonly out: string;
}

export async function runStudyInitCommand(options: StudyInitOptions, { stdout }: Console): Promise<void> {
  const { feature, data, columns, out, founders: given = [], ...asked } = options;
  if (
    feature !== undefined ? data !== undefined || columns !== undefined : data === undefined && columns === undefined
  ) {
    throw new UsageError("one of --feature, --data and --columns must be given (--columns also beside --data)");
  }
  const founders = given.flatMap(keysOf);
  const draft = { ...asked, ...(founders.length > 0 && { founders }) };
  checkPrivateOptions(draft);
  if (founders.length > 0 && draft.clusters !== "shared")
    throw new UsageError(`--founders needs --clusters shared, got ${draft.clusters}`);
  if (existsSync(out)) throw new Error(`${out} must not exist yet: a study that devices use is not overwritten`);
  const features =
    data === undefined
      ? (feature?.map(parseFeature) ?? columns?.split(",").map(parseOpenColumn))
      : studyFileBounds(await rowSourceColumns(data, process.env, columns?.split(",")));
  const text = draftStudyFile({ ...draft, features: features ?? [] });
  const study = needsFounders(parseStudy(text)) ? parseStudy(text) : foundedInFile(parseStudy(text));
  await writeResultFile(out, text);
  const mode = study.privacy === "open" ? "open" : "guarded";
  if (hasOpenColumns(study)) stdout.write(`${whatDescribingTells[mode]}\n`);
  if (study.leastK !== undefined) stdout.write(`${whatChoosingTells[mode]}\n`);
  stdout.write(`wrote ${out}: look it over, then give the same file to every device\n`);
  stdout.write(`privacy is ${study.privacy}: ${privacyWords(study)}\n`);
  if (study.privacy !== "private") return;
  if (isReleasedInRounds(study)) stdout.write(`${noiseOfRelease(study).words}\n`);
  if (needsFounders(study)) stdout.write(`${founderLine(out)}\n`);
  // Bounds that come from rows say something about them.
  if (data !== undefined)
    stdout.write(
      "bounds and scales come from the file: replace them by what is known without it, or the promise does not cover them\n",
    );
}

/** A key, or a file with one in each line. */
function keysOf(text: string): string[] {
  return existsSync(text) ? readTextFile(text).split(/\s+/).filter(Boolean) : [text];
}

/** What is missing in a study that fedkm up and fit can use, and devices elsewhere not yet. */
const founderLine = (file: string) =>
  `before devices can use ${file} it must name its founders (fedkm device key prints the key of each; then add founders: [KEY, ...]); fedkm up does it by itself`;

function parseFeature(text: string): Feature {
  const [name, min, max, unit = ""] = text.split(":");
  const bounds = { min: Number(min), max: Number(max) };
  if (!name || !min || !max || !(bounds.min < bounds.max)) {
    throw new UsageError(`--feature must be name:min:max or name:min:max:unit with min below max, got "${text}"`);
  }
  return { name, unit, ...bounds, scale: 1 };
}

/** A column of which nothing is known yet. */
function parseOpenColumn(text: string): Feature {
  const [name, kind = "number", ...more] = text.trim().split(":");
  if (name === "" || (kind !== "number" && kind !== "category") || more.length > 0)
    throw new UsageError(`--columns must be NAME, NAME:number or NAME:category, with commas between, got "${text}"`);
  return { name, unit: "", min: 0, max: 1, scale: 1, open: kind };
}

/** What only a private study takes, and what it needs. */
function checkPrivateOptions(draft: Omit<StudyDraft, "features">): void {
  const { privacy, clusters, typicalRows, devices, epsilon, delta, personColumn } = draft;
  if (privacy !== "private") {
    const budget = { "--epsilon": epsilon, "--delta": delta, "--person-column": personColumn };
    const options = { "--typical-rows": typicalRows, "--devices": devices, ...budget };
    const [wrong] = Object.entries(options).filter(([, value]) => value !== undefined);
    if (wrong !== undefined) throw new UsageError(`${wrong[0]} needs --privacy private, got ${privacy}`);
    return;
  }
  if (typicalRows === undefined) throw new UsageError("--privacy private needs --typical-rows");
  if (clusters === "shared" && devices === undefined)
    throw new UsageError("--privacy private with --clusters shared needs --devices");
  if (clusters !== "shared" && devices !== undefined)
    throw new UsageError(`--devices needs --clusters shared, got ${clusters}`);
}

/** What owners consent to when they join a study that leaves questions open. */
const whatDescribingTells = {
  open: "describing: the network learns how many rows of all devices lie in cells of values, and exact sums; cells may hold a single row, so agree only if rows may be public",
  guarded:
    "describing: the network learns how many rows of all devices lie in cells of values, and sums; each device tells a column in groups of its minimum, and no value that fewer of its rows have",
};

const whatChoosingTells = {
  open: "choosing k: the network learns how many rows of all devices lie in up to 64 cells, their sums and products, and how many lie where between clusters; cells may hold a single row, so agree only if rows may be public",
  guarded:
    "choosing k: the network learns sums over the cores of each device's own k-means, none of fewer rows than its minimum; they show where a curve bends and no gaps, so k is uncertain, and owners decide",
};

interface DataFit {
  readonly file: string;
  readonly rows: number;
  readonly rowsOutside: number;
}

export async function runStudyCheckCommand(
  file: string,
  { data = [], json }: { data?: readonly string[]; json?: boolean },
  io: Console,
): Promise<void> {
  const study = parseStudy(readTextFile(file));
  const hash = studyId(await contractOf(study));
  const fits: DataFit[] = [];
  for (const path of data) {
    const points = await rowSourcePoints(path, study, process.env);
    const within = hasOpenColumns(study) ? points.rows : scaleRows(study, points).rows;
    fits.push({ file: path, rows: points.rows, rowsOutside: points.rows - within });
  }
  const facts = { file, study, hash, frameBytes: frameBytes({ k: study.k, d: study.features.length }), data: fits };
  const { file: _, ...shown } = facts;
  printAnswer(io, json, shown, () => describe(facts));
}

function memberLines(study: Study, file: string): string[] {
  const { founders, vouchers, colluders = 1 } = study;
  if (needsFounders(study)) return [founderLine(file)];
  if (founders === undefined) return [];
  const few = founders.length < colluders + 2 ? `; fewer than ${colluders + 2} hide nothing from each other` : "";
  return [`${founders.length} founders; ${vouchers} members admit another one${few}`];
}

interface Facts {
  readonly file: string;
  readonly study: Study;
  readonly hash: string;
  readonly frameBytes: number;
  readonly data: readonly DataFit[];
}

function describe({ file, study, hash, frameBytes: bytes, data }: Facts): string[] {
  const { name, alpha, coupling, weighting, privacy, minimum, features, leastK } = study;
  const k = leastK ?? study.k;
  const clusters = leastK === undefined ? k : `${k} to ${study.k}`;
  const heading = ["feature", "unit", "min", "max", "scale"];
  const rows = features.map(({ name: feature, unit, min, max, scale, open }) => {
    if (open === undefined) return [feature, unit, ...[min, max, scale].map(String)];
    return [feature, unit, ...(open === "number" ? ["network", "network", "network"] : ["levels: network", "", ""])];
  });
  const fits = data.map(({ file: path, rows: all, rowsOutside }) => {
    const enough =
      all - rowsOutside >= k * minimum
        ? ""
        : `; fewer than ${k * minimum} that count: it would send nothing of its own`;
    return `${path}: ${countLabel(all)} rows, ${countLabel(rowsOutside)} outside the bounds${enough}`;
  });
  return [
    study.clusters === "shared"
      ? `${name}: k = ${clusters}, shared clusters against ${study.colluders} colluders, privacy ${privacy}, minimum ${minimum}`
      : `${name}: k = ${clusters}, alpha = ${alpha}, coupling ${coupling}, weighting ${weighting}, privacy ${privacy}, minimum ${minimum}`,
    ...(study.protects === undefined ? [] : [privacyWords(study)]),
    ...(study.neighbours === "trusted" ? [whatTrustMeans] : []),
    ...memberLines(study, file),
    "",
    ...alignColumns([heading, ...rows]),
    "",
    `hash ${hash}, frames of ${countLabel(bytes)} bytes`,
    ...fits,
  ];
}
