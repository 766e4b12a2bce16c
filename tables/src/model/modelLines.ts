// A model in lines for a terminal: the clusters in the user's units, who agrees with whom, and where the results are.

import { type ColumnMean, encodedMeans } from "@fedkm/files";
import { alignColumns, wrap } from "@fedkm/pictures/terminal";
import { counted, countLabel, readableDate, readableSpread, readableValue, significantLabel } from "../numbers.ts";
import { encodingOfModel, type FittedModel, isModelShared, modelEndWords, modelRunWords } from "./model.ts";

const WIDTH = 80;
/** More columns than fit a line are in the report. */
const MOST_COLUMNS = 8;

const ABOUT_DEVICES =
  "apart: how far the means of single devices are from those above, beyond chance; 1 is as far as rows are from their mean";

/** What is said beside the model: how sure it is, warnings, and where the files of the results are. */
interface Beside {
  readonly sure: string | undefined;
  readonly warnings: readonly string[];
  readonly paths: readonly string[];
}

/** `bold` is what makes a text so. */
export function modelLines(
  model: FittedModel,
  { sure, warnings, paths }: Beside,
  bold: (text: string) => string,
): string[] {
  const { devices, links, guarded } = model;
  const columns = encodingOfModel(model);
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  const facts = [
    `${counted(devices.length, "device")}, ${counted(links.length, "link")}, ${counted(rows, "row")}, ${counted(columns.length, "column")}`,
    runText(model),
    ...(guarded === undefined
      ? []
      : [
          `guarded: ${counted(guarded.rowsHeldBack, "row")} held back, ${countLabel(guarded.rowsLeftOut)} left out, ` +
            `smallest class ${counted(guarded.smallestClass, "row")} (minimum ${guarded.minimum})`,
        ]),
  ];
  return [
    ...facts,
    "",
    ...alignColumns(clusterTable(model), (text, row) => (row === 0 ? bold(text) : text)),
    ...(devices.length > 1 ? ["", ...wrap(ABOUT_DEVICES, WIDTH)] : []),
    ...(columns.length > MOST_COLUMNS
      ? ["", `the other ${columns.length - MOST_COLUMNS} columns are in the report`]
      : []),
    ...(sure === undefined ? [] : ["", ...wrap(sure, WIDTH)]),
    ...warnings.flatMap((warning, i) => [...(i === 0 ? [""] : []), ...wrap(`warning: ${warning}`, WIDTH)]),
    "",
    ...shortened(paths),
  ];
}

function runText(model: FittedModel): string {
  const { devices, options, objective } = model;
  const { name, pull } = modelRunWords(model);
  const isDeviceWeighted = options.weighting === "device" && devices.length > 1 && !isModelShared(model);
  const weights = isDeviceWeighted ? ", every device counts the same" : "";
  const end = `${modelEndWords(model)}, objective ${significantLabel(objective, 4)}`;
  return `${name}, k = ${options.k}, ${pull}${weights}, seed ${options.seed}: ${end}`;
}

/** One line a cluster: its rows on all devices, their means, and how far the devices differ. */
function clusterTable({ devices, clusters, ...model }: FittedModel): string[][] {
  const shown = encodingOfModel(model).slice(0, MOST_COLUMNS);
  const several = devices.length > 1;
  const lines = clusters.map(({ name, rows, mean, difference, farthest, farthestDifference }, c) => [
    name === undefined ? String(c) : `${c} ${name}`,
    countLabel(rows),
    ...(mean === null
      ? shown.map(() => NOTHING)
      : encodedMeans(shown, mean).map((own, x) => meanText(own, model.dates?.includes(shown[x].name) === true))),
    ...(several ? [readableSpread(difference, NOTHING), farthestDevice(farthest, farthestDifference)] : []),
  ]);
  return [["cluster", "rows", ...shown.map(({ name }) => name), ...(several ? ["apart", "farthest"] : [])], ...lines];
}

/** A number, or the value that most rows have with its share. */
function meanText({ mean = 0, shares }: ColumnMean, isDate: boolean): string {
  if (shares === undefined) return isDate ? readableDate(mean) : readableValue(mean);
  const [{ value, share }] = shares;
  return `${value.length > LONGEST_NAME ? `${value.slice(0, LONGEST_NAME)}...` : value} ${Math.round(100 * share)} %`;
}

const NOTHING = "-";
const LONGEST_NAME = 20;

function farthestDevice(name: string | null, difference: number | null): string {
  if (name === null) return NOTHING;
  // Names often differ in a number at their end.
  const short = name.length > LONGEST_NAME ? `${name.slice(0, 9)}...${name.slice(-8)}` : name;
  return `${short} ${readableSpread(difference, NOTHING)}`;
}

function shortened(paths: readonly string[]): string[] {
  const most = 6;
  return paths.length <= most ? [...paths] : [...paths.slice(0, most - 1), `and ${paths.length - most + 1} more`];
}
