// The report: one HTML file with everything in it, made from the same tables as the CSV files.

import { countLabel, escaped, htmlPage, htmlTable, methodTitles, significantLabel } from "@fedkm/pictures";
import { groupCells, type TableRow } from "../table.ts";
import { type AgreementRow, agreementSummary } from "./agreement.ts";

/** From aggregated rows; undefined where the study is not among them. */
export function reportPersonalisation(aggregated: readonly TableRow[]) {
  const cells = aggregated.filter(({ study }) => study === "heterogeneity");
  if (cells.length === 0) return undefined;
  const starts = distinct(cells.map(({ start }) => start)).filter((start) => start !== null);
  const kinds = distinct(cells.map(({ dataset }) => dataset));
  const splits = distinct(cells.map(({ split }) => String(split)));
  const of = (start: unknown) => cells.filter((row) => row.start === start || row.start === null);
  return {
    // Of one kind of data and one start: a line for each method, a ratio for each split.
    tables: starts.flatMap((start) =>
      kinds.map((kind) => ({
        title: `${start} start, ${kind}`,
        heading: ["method", ...splits],
        rows: distinct(of(start).map(nameOf)).map((name) => [
          name,
          ...splits.map((split) => {
            const own = of(start).filter((cell) => cell.dataset === kind && cell.split === split);
            const row = own.find((cell) => nameOf(cell) === name);
            return row === undefined ? "" : Number(row.own_cost_ratio_mean).toFixed(3);
          }),
        ]),
      })),
    ),
    // One for each start.
    sentences: starts.map((start) => sentence(String(start), of(start))),
  };
}

/** Cells in which a device's own answer is cheaper than the pooled one, the upper end of the 95 % interval included. */
function sentence(start: string, cells: readonly TableRow[]): string {
  const upper = (row: TableRow) => Number(row.own_cost_ratio_mean) + Number(row.own_cost_ratio_interval);
  const paying = cells.filter((row) => (row.method === "fedkm" || row.method === "local") && upper(row) < 1);
  const caseOf = ({ dataset, split }: TableRow) => `${dataset} ${split}`;
  const found = distinct(paying.map(caseOf)).map((name) => {
    const own = paying
      .filter((row) => caseOf(row) === name)
      .sort((a, b) => Number(a.own_cost_ratio_mean) - Number(b.own_cost_ratio_mean));
    return `${name} (${nameOf(own[0])}: ${Number(own[0].own_cost_ratio_mean).toFixed(2)})`;
  });
  if (found.length === 0) return `From the ${start} start personalisation pays nowhere in this study.`;
  return `From the ${start} start personalisation pays, the 95 % interval below 1, for ${found.join(", ")}.`;
}

function nameOf({ method, alpha }: TableRow): string {
  return alpha === null ? String(method) : `${method}, alpha ${alpha}`;
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/**
 * One line about all runs of Algorithm 1: whether the objective ever rose, and how far their ends are from fixed points.
 * Undefined where none of the rows is of Algorithm 1.
 */
export function reportCertificateLine(runs: readonly TableRow[]): string | undefined {
  const certified = runs.filter(({ largest_rise }) => largest_rise !== null);
  if (certified.length === 0) return undefined;
  const most = (column: string) => certified.reduce((largest, row) => Math.max(largest, Number(row[column])), 0);
  const rise = most("largest_rise");
  const rose = certified.filter(({ largest_rise }) => Number(largest_rise) > 0).length;
  const descent =
    rise === 0
      ? "none raised the objective in any round"
      : `${countLabel(rose)} raised the objective, by ${significantLabel(rise, 2)} at most`;
  const residual = significantLabel(most("relative_residual"), 2);
  return `${countLabel(certified.length)} runs of Algorithm 1: ${descent}; one more exact update moves no coordinate by more than ${residual} of the points' range`;
}

/** A run of the study that is worth a look. */
export interface WatchedRun {
  readonly dataset: string;
  readonly start: string;
  /** What is to be seen, in words. */
  readonly shows: string;
  /** To be pasted. */
  readonly command: string;
}

interface ReportParts {
  readonly title: string;
  /** A sentence about the machine's part: what was run and how long it took. */
  readonly effort: string;
  /** A sentence about all runs of Algorithm 1, where there are some. */
  readonly certified: string | undefined;
  readonly claims: readonly TableRow[];
  readonly agreement: readonly AgreementRow[];
  readonly aggregated: readonly TableRow[];
  readonly personalisation: ReturnType<typeof reportPersonalisation>;
  readonly watched: readonly WatchedRun[];
  /** Standalone SVG, side by side if they are two of a kind. */
  readonly pictures: readonly string[];
  /** What another machine needs to get the same bytes. */
  readonly manifest: object;
}

export function renderStudyReport(parts: ReportParts): string {
  const { title, effort, certified, claims, agreement, personalisation, watched, pictures } = parts;
  const isFigures = claims.length > 0;
  return htmlPage(
    title,
    `<h1>${escaped(title)}</h1>
<p>${escaped(effort)}</p>
${certified === undefined ? "" : `<p>${escaped(certified)}.</p>`}
${isFigures ? claimSection(claims) : ""}
${agreement.length > 0 ? agreementSection(agreement) : ""}
${personalisation === undefined ? "" : personalisationSection(personalisation)}
${pictures.length > 0 ? `<h2>Pictures</h2>\n<div class="pictures">\n${pictures.join("\n")}\n</div>` : ""}
${isFigures ? "" : `<h2>Numbers</h2>\n${numbersTable(parts.aggregated)}`}
${watched.length > 0 ? watchSection(watched) : ""}
<h2>Manifest</h2>
<p>The same options give the same bytes of every CSV file, on any machine and with any number of workers.</p>
<pre>${escaped(JSON.stringify(parts.manifest, undefined, 2))}</pre>`,
  );
}

function watchSection(watched: ReportParts["watched"]): string {
  return `<h2>Watch a run</h2>
<p>Each command opens the playground on this machine with one of these runs: press play. Data, network and centroids are the same
to the bit.</p>
${htmlTable({
  heading: ["data", "start", "what it shows", "command"],
  rows: watched.map(({ dataset, start, shows, command }) => [dataset, start, shows, command]),
  names: 4,
})}`;
}

/** Every claim on one line for each dataset, the starts side by side. */
function claimSection(claims: readonly TableRow[]): string {
  const starts = [...new Set(claims.map(({ start }) => String(start)))];
  const rows = groupCells(claims, ({ name, dataset }) => JSON.stringify([name, dataset])).map((all) => {
    // In one column each, so that three starts fit on a page.
    const results = starts.map((start) => {
      const row = all.find((one) => one.start === start);
      if (row === undefined) return "";
      return `${row.verdict}: ${row.means_held} of ${row.means}, ${row.runs_held} of ${row.runs}`;
    });
    const { claim, measured, dataset, section, figure } = all[0];
    return {
      said: [String(claim), String(measured)],
      cells: [String(dataset), String(section), String(figure), ...results],
    };
  });
  const heading = [
    "the paper says",
    "measured as",
    "data",
    "section",
    "figure",
    ...starts.map((start) => `${start} start: means, runs`),
  ];
  return `<h2>Does it hold?</h2>
<p>The paper's figures show means over the runs, so its sentences are judged by means: at every size, or once where a sentence is about all sizes.
Trends over sizes are judged by Kendall's rank test at 5 %. The single runs are counted beside the means. holds: in all means; mostly: in more than half; in part: in fewer.</p>
${htmlTable({
  heading,
  // A sentence is written once, above its further datasets.
  rows: rows.map(({ said, cells }, i) => [
    ...(i > 0 && rows[i - 1].said.join() === said.join() ? ["", ""] : said),
    ...cells,
  ]),
  names: 3,
})}`;
}

function agreementSection(agreement: readonly AgreementRow[]): string {
  const counts = agreementSummary(agreement).map(({ start, method, agreeing, of, inRange, spread, rounding }) => [
    start,
    methodTitles[method] ?? method,
    of === 0 ? "" : `${agreeing} of ${of}`,
    spread === 0 ? "" : `${inRange} of ${spread}`,
    rounding === 0 ? "" : String(rounding),
  ]);
  const rows = agreement
    .filter(({ agrees }) => agrees === 0)
    .map((row) => [
      `${row.start} ${row.dataset} ${row.method}`,
      String(row.measure).toUpperCase(),
      row.alpha === null ? "" : String(row.alpha),
      String(row.edge_probability),
      String(row.points_per_device),
      short(row.median),
      short(row.their_median),
      `${short(row.lowest_run)} to ${short(row.highest_run)}`,
      `${row.wrong_percent} %`,
      `${row.their_wrong_percent} %`,
    ]);
  const heading = ["cell", "measure", "\u03b1", "p", "m", "median", "theirs", "our runs", "wrong devices", "theirs"];
  return `<h2>Against an independent implementation</h2>
<p>Medians agree if they are within a factor 2 (iso) or 3 (var, aniso). Where half of our runs lie further apart than that, a median of ten
is not known that well, and their median must lie among our runs. Where both medians are rounding, below 1e-26, nothing is compared.</p>
${htmlTable({ heading: ["start", "method", "medians that agree", "among our runs", "both rounding"], rows: counts, names: 2 })}
${rows.length > 0 ? htmlTable({ heading, rows, names: 2 }) : ""}`;
}

function personalisationSection({ tables, sentences }: NonNullable<ReportParts["personalisation"]>): string {
  const parts = tables.map(
    ({ title, heading, rows }) => `<h3>${escaped(title)}</h3>\n${htmlTable({ heading, rows, names: 1 })}`,
  );
  return `<h2>Where personalisation pays</h2>
<p>One row in five of every device is held back. Each number is the cost of the devices' own centroids on their own held-back rows,
relative to pooled k-means, in the mean over the runs: below 1 personalisation pays.</p>
${sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join("\n")}
${parts.join("\n")}`;
}

const shown: readonly (readonly [column: string, title: string])[] = [
  ["study", "study"],
  ["dataset", "data"],
  ["split", "split"],
  ["method", "method"],
  ["start", "start"],
  ["edge_probability", "p"],
  ["alpha", "\u03b1"],
  ["settings", "settings"],
  ["gcd_mean", "GCD"],
  ["gcd_median", "median"],
  ["cv_mean", "CV"],
  ["nmi_mean", "NMI"],
  ["ari_mean", "ARI"],
  ["wrong_percent", "wrong, %"],
  ["cost_ratio_mean", "pooled cost, ratio"],
  ["own_cost_ratio_mean", "own cost, ratio"],
  ["runs_with_rises", "runs in which F rose"],
];

/** The columns in which rows differ or measure something. */
function numbersTable(rows: readonly TableRow[]): string {
  const used = shown.filter(([column]) => rows.some((row) => row[column] !== null));
  return htmlTable({
    heading: used.map(([, title]) => title),
    rows: rows.map((row) => used.map(([column]) => short(row[column]))),
    names: 4,
  });
}

function short(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (value === 0 || (Number.isInteger(value) && Math.abs(value) < 1e6)) return String(value);
  return significantLabel(value, Math.abs(value) < 1e-3 ? 2 : 3);
}
