// The report: one HTML file with everything in it, made from the same tables as the CSV files.

import { escaped } from "@fedkm/pictures";
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
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${escaped(effort)}</p>
${isFigures ? claimSection(claims) : ""}
${agreement.length > 0 ? agreementSection(agreement) : ""}
${pictures.length > 0 ? `<h2>Pictures</h2>\n<div class="pictures">\n${pictures.join("\n")}\n</div>` : ""}
${isFigures ? "" : `<h2>Numbers</h2>\n${numbersTable(aggregated)}`}
<h2>Manifest</h2>
<p>The same options give the same bytes of every CSV file, on any machine and with any number of workers.</p>
<pre>${escaped(JSON.stringify(manifest, undefined, 2))}</pre>
</body>
</html>
`;
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1440px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: right; border-bottom: 1px solid #d4d4d4; vertical-align: top; }
th { font-weight: 600; } .name { text-align: left; max-width: 34rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1.5rem; } .pictures svg { max-width: 100%; height: auto; flex: 0 1 680px; }
pre { background: #f4f4f4; padding: 0.8rem; overflow: auto; }
`;

function table(heading: readonly string[], rows: readonly (readonly string[])[], names: number): string {
  const cells = (tag: string, texts: readonly string[]) =>
    texts.map((text, i) => `<${tag}${i < names ? ' class="name"' : ""}>${escaped(text)}</${tag}>`).join("");
  const lines = rows.map((row) => `<tr>${cells("td", row)}</tr>`);
  return `<table>\n<thead><tr>${cells("th", heading)}</tr></thead>\n<tbody>\n${lines.join("\n")}\n</tbody>\n</table>`;
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
${table(
  heading,
  // A claim is written once, above its further datasets.
  rows.map(({ claim, cells }, i) => [i > 0 && rows[i - 1].claim === claim ? "" : claim, ...cells]),
  2,
)}`;
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
${apart.length > 0 ? table(heading, rows, 1) : ""}`;
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
  return table(
    used.map(([, title]) => title),
    rows.map((row) => used.map(([column]) => short(row[column]))),
    4,
  );
}

function short(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (value === 0 || (Number.isInteger(value) && Math.abs(value) < 1e6)) return String(value);
  return Math.abs(value) < 1e-3 || Math.abs(value) >= 1e4
    ? value.toExponential(1)
    : String(Number(value.toPrecision(3)));
}
