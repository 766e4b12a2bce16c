// The report: one HTML file with everything in it, made from the same tables as the CSV files.

import { escaped, htmlPage, htmlTable, significant } from "@fedkm/pictures";
import type { TableRow } from "./table.ts";

export interface ReportParts {
  readonly title: string;
  /** A sentence about the machine's part: what was run and how long it took. */
  readonly effort: string;
  readonly claims: readonly TableRow[];
  readonly agreement: readonly TableRow[];
  readonly aggregated: readonly TableRow[];
  /** Standalone SVG, side by side if they are two of a kind. */
  readonly pictures: readonly string[];
  /** What another machine needs to get the same bytes. */
  readonly manifest: object;
}

export function renderReport(parts: ReportParts): string {
  const { title, effort, claims, agreement, aggregated, pictures, manifest } = parts;
  const isFigures = claims.length > 0;
  return htmlPage(
    title,
    `<h1>${escaped(title)}</h1>
<p>${escaped(effort)}</p>
${isFigures ? claimSection(claims) : ""}
${agreement.length > 0 ? agreementSection(agreement) : ""}
${pictures.length > 0 ? `<h2>Pictures</h2>\n<div class="pictures">\n${pictures.join("\n")}\n</div>` : ""}
${isFigures ? "" : `<h2>Numbers</h2>\n${numbersTable(aggregated)}`}
<h2>Manifest</h2>
<p>The same options give the same bytes of every CSV file, on any machine and with any number of workers.</p>
<pre>${escaped(JSON.stringify(manifest, undefined, 2))}</pre>`,
  );
}

/** Every claim on one line for each dataset, the starts side by side. */
function claimSection(claims: readonly TableRow[]): string {
  const starts = [...new Set(claims.map(({ start }) => String(start)))];
  const keys = [...new Set(claims.map(({ figure, claim, dataset }) => JSON.stringify([figure, claim, dataset])))];
  const rows = keys.map((key) => {
    const [figure, claim, dataset] = JSON.parse(key);
    const results = starts.flatMap((start) => {
      const row = claims.find((one) => one.claim === claim && one.dataset === dataset && one.start === start);
      return row === undefined
        ? ["", "", ""]
        : [`${row.runs_held} of ${row.runs}`, `${row.means_held} of ${row.means}`, String(row.verdict)];
    });
    return { claim, cells: [dataset, String(figure), ...results] };
  });
  const heading = [
    "claim of the paper",
    "data",
    "figure",
    ...starts.flatMap((start) => [`${start} start: runs`, "means", "verdict"]),
  ];
  return `<h2>Does it hold?</h2>
<p>Counted over single runs (each size of each run, or each run once where a claim is about all sizes), and over the means that the figures show.
holds: at least 95 % of the runs; mostly: 75 %; in part: 25 %.</p>
${htmlTable({
  heading,
  // A claim is written once, above its further datasets.
  rows: rows.map(({ claim, cells }, i) => [i > 0 && rows[i - 1].claim === claim ? "" : claim, ...cells]),
  names: 2,
})}`;
}

function agreementSection(agreement: readonly TableRow[]): string {
  const apart = agreement.filter(({ agrees }) => agrees === 0);
  const rows = apart.map((row) => [
    `${row.dataset} ${row.method}`,
    row.alpha === null ? "" : String(row.alpha),
    String(row.edge_probability),
    String(row.points_per_device),
    short(row.gcd_median),
    short(row.their_gcd_median),
    `${row.wrong_percent} %`,
    `${row.their_wrong_percent} %`,
  ]);
  const heading = ["cell", "alpha", "p", "m", "GCD, median", "theirs", "wrong devices", "theirs"];
  return `<h2>Against an independent implementation</h2>
<p>${agreement.length - apart.length} of ${agreement.length} cells agree: the median GCD within a factor 2 (iso) or 3 (var, aniso), the share of wrong devices within 15 points.</p>
${apart.length > 0 ? htmlTable({ heading, rows, names: 1 }) : ""}`;
}

const shown: readonly (readonly [column: string, title: string])[] = [
  ["study", "study"],
  ["dataset", "data"],
  ["method", "method"],
  ["start", "start"],
  ["edge_probability", "p"],
  ["alpha", "alpha"],
  ["schedule", "schedule"],
  ["damping", "damping"],
  ["passes", "passes"],
  ["gcd_mean", "GCD"],
  ["gcd_median", "median"],
  ["cv_mean", "CV"],
  ["nmi_mean", "NMI"],
  ["ari_mean", "ARI"],
  ["wrong_percent", "wrong, %"],
  ["cost_ratio_mean", "pooled cost, ratio"],
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
  return significant(value, Math.abs(value) < 1e-3 ? 2 : 3);
}
