// fedkm fit --study: what a study says in place of flags, and what is left to say beside it.

import {
  isOpenStudy,
  parseStudy,
  type Study,
  simulateQuestions,
  stackedTables,
  studyColumns,
  studyRequest,
  type TableRows,
  tableRows,
} from "@fedkm/device";
import { readTextFile } from "@fedkm/device/daemon";
import { checkMissingCells, expandPatterns, readTable } from "@fedkm/files";
import { isAddress } from "@fedkm/sql/address";
import { chosenWords } from "@fedkm/tables";
import { shellNames } from "@fedkm/tables/light";
import { countLabel } from "@fedkm/tables/numbers";
import { type Console, warnOn } from "../../console.ts";
import { UsageError } from "../../failure.ts";

/** What can be typed as well as said by a study, or not at all asked of devices. */
interface StudyFlags {
  readonly k?: number;
  readonly alpha?: number;
  readonly coupling?: string;
  readonly weighting?: string;
  readonly columns?: readonly string[];
  readonly missing?: string;
  readonly scale?: string;
  readonly exclude?: readonly string[];
  readonly [other: string]: unknown;
}

/** Devices have one way to run. */
const notForDevices = ["method", "preset", "init", "schedule", "rounds", "penalty", "tol", "categories"];

/** The flags that the study of a file stands for. What it leaves open the simulated devices find out first. */
export async function flagsOfStudy(file: string, typed: StudyFlags, patterns: readonly string[], io: Console) {
  const given = parseStudy(readTextFile(file));
  checkFlags(given, file, typed);
  return studyRequest(isOpenStudy(given) ? await closedByFiles(given, typed, patterns, io) : given);
}

/** The closed study that devices with these files would come to, if all their owners approve. */
async function closedByFiles(
  study: Study,
  typed: StudyFlags,
  patterns: readonly string[],
  io: Console,
): Promise<Study> {
  const address = patterns.find(isAddress);
  if (address !== undefined)
    throw new UsageError(`files must be given where a study is open, got the source ${address}`);
  const wanted = studyColumns(study);
  const parts = new Map<string, TableRows[]>();
  for (const path of await expandPatterns(patterns)) {
    const table = await readTable(path, { ...typed, ...wanted });
    if (study.missing === undefined) checkMissingCells(table, "refuse");
    const { data, rows, cols, words } = tableRows(table);
    const { names, of } = table.devices ?? { names: [path], of: new Uint32Array(rows) };
    for (const [d, name] of names.entries()) {
      const places = Array.from({ length: rows }, (_, r) => r).filter((r) => of[r] === d);
      const own = Float64Array.from({ length: places.length * cols }, (_, i) => {
        return data[places[Math.floor(i / cols)] * cols + (i % cols)];
      });
      parts.set(name, [...(parts.get(name) ?? []), { data: own, rows: places.length, cols, words }]);
    }
  }
  const devices = [...parts.values()].map((own) => stackedTables(own, wanted.columns.length));
  const found = await simulateQuestions(study, [...parts.keys()], devices, 1);
  const { closed, described, chosen, generations, bytes } = found;
  const each = countLabel(Math.round(bytes / devices.length / 1000));
  const rows = countLabel(described[0]?.rows ?? chosen?.rows ?? 0);
  io.stderr.write(
    `fedkm  found out about ${rows} rows of ${devices.length} devices in ${generations} generations, ${each} kB sent by each\n`,
  );
  // Simulated owners approve of the first candidate.
  for (const candidate of chosen?.candidates ?? []) io.stderr.write(`fedkm  ${chosenWords(candidate)}\n`);
  if (chosen !== undefined) io.stderr.write(`fedkm  fits k = ${closed.k}\n`);
  const own = [...parts.keys()].flatMap((name, i) => described[i]?.remarks.map((remark) => `${name}: ${remark}`) ?? []);
  const common = (described[0]?.remarks ?? []).filter((remark) =>
    described.every(({ remarks }) => remarks.includes(remark)),
  );
  const warn = warnOn(io);
  for (const remark of common) warn(remark);
  for (const remark of own) if (!common.some((one) => remark.endsWith(one))) warn(remark);
  return closed;
}

/** What is typed besides the study must not contradict it. */
function checkFlags(study: Study, file: string, typed: StudyFlags): void {
  const columns = shellNames(studyColumns(study).columns);
  if (typed.k !== undefined && study.leastK !== undefined)
    throw new UsageError(`--k cannot be used with --study: ${file} leaves it to the devices`);
  for (const name of ["k", "alpha", "coupling", "weighting"] as const) {
    if (typed[name] === undefined || typed[name] === study[name]) continue;
    throw new UsageError(`--${name} must be ${study[name]}, as ${file} says, got ${typed[name]}`);
  }
  if (typed.columns !== undefined && shellNames(typed.columns) !== columns)
    throw new UsageError(`--columns must be ${columns}, as ${file} says, got ${shellNames(typed.columns)}`);
  if (typed.exclude !== undefined)
    throw new UsageError(`--exclude cannot be used with --study: the columns are ${columns}, as ${file} says`);
  if (typed.scale !== undefined) {
    const scales = study.features.map(({ name, scale }) => `${name} ${scale}`).join(", ");
    throw new UsageError(`--scale cannot be used with --study: the scales are ${scales}, as ${file} says`);
  }
  const { missing = "refuse" } = study;
  if (typed.missing !== undefined && typed.missing !== missing)
    throw new UsageError(`--missing must be ${missing} with --study, as devices do, got ${typed.missing}`);
  const stranger = notForDevices.find((name) => typed[name] !== undefined);
  if (stranger !== undefined)
    throw new UsageError(`--${stranger} cannot be used with --study: devices run in one way, see docs/protocol.md`);
}
