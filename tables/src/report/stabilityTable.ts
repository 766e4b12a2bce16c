// How stable the clusters are, in words and in a table.

import { escaped, type HtmlCell, htmlTable } from "@fedkm/pictures";
import { NEAR, type Stability } from "../fit/stability.ts";
import type { FittedRows } from "../model/clusterSums.ts";
import { counted, countLabel, percent } from "../numbers.ts";
import { NOTHING, reportDownload, reportList, reportMark, reportName } from "./marks.ts";

const MOST_PAIRS = 3;

/** Whether the clusters are apart. */
function verdictWords(model: Clusters, verdict: Stability["verdict"]): string {
  if (verdict === undefined) return "Each device has clusters of its own, which are not judged together";
  if (verdict.word === "clear") return "They are clearly apart";
  if (verdict.word === "too few rows") return "There are too few rows to tell whether they are apart";
  if (verdict.word === "none")
    return "They are not shown to be apart: they divide the rows, which need not form clusters";
  const joined = verdict.pairs.filter(({ isApart }) => !isApart);
  const pairs = joined.map(({ a, b }) => [a, b].map((c) => reportName(model, c)).join(" with "));
  const more = pairs.length > MOST_PAIRS ? [`${countLabel(pairs.length - MOST_PAIRS)} more pairs`] : [];
  const which =
    pairs.length === 0 ? "" : `: no gap can be shown for ${reportList([...pairs.slice(0, MOST_PAIRS), ...more])}`;
  return `They are weakly apart${which}`;
}

/** Of Hennig's scale for the Jaccard index over repetitions. */
const [FOUND, PARTLY] = [0.85, 0.6];

/** His words for such an index. */
function foundAgain(jaccard: number): string {
  if (jaccard >= FOUND) return "found again";
  return jaccard >= PARTLY ? "partly found again" : "not found again";
}

/** The mean over repetitions, by cluster; a cluster without rows in one says nothing there. */
function meanJaccards(repetitions: readonly (readonly number[])[], k: number): number[] {
  return Array.from({ length: k }, (_, c) => {
    const known = repetitions.map((own) => own[c]).filter((jaccard) => !Number.isNaN(jaccard));
    return known.reduce((sum, jaccard) => sum + jaccard, 0) / known.length;
  });
}

type Clusters = Pick<FittedRows["model"], "clusters">;

/** The last of the three sentences of a report; one cluster has nothing to be apart from. */
export function reportStabilitySentence(
  { options, clusters }: FittedRows["model"],
  { verdict, starts, without }: Stability,
): string | undefined {
  if (options.k === 1) return undefined;
  const runs = [...starts, ...without.map(({ jaccards }) => jaccards)];
  const means = meanJaccards(runs, options.k);
  // A mean hides a run that lost a cluster.
  const complete = runs.filter((own) => !own.some((jaccard) => jaccard < PARTLY)).length;
  const lost = Array.from(means.keys()).filter((c) => means[c] < PARTLY);
  const shaky = Array.from(means.keys()).filter((c) => means[c] < FOUND);
  const named = (of: readonly number[]) => reportList(of.slice(0, 4).map((c) => reportName({ clusters }, c)));
  const whom = without.length > 0 ? "other starts and fewer devices" : "other starts";
  const [and, but] = verdict === undefined || verdict.word === "clear" ? [", yet", ", and"] : [", and", ", yet"];
  const again =
    means.length === 0 || means.every(Number.isNaN)
      ? ""
      : lost.length > 0
        ? `${and} ${named(lost)} ${lost.length === 1 ? "is" : "are"} not found again by ${whom}`
        : shaky.length > 0
          ? `${but} ${whom} find most of them again, ${named(shaky)} only in part`
          : complete < runs.length
            ? `${but} ${countLabel(complete)} of ${countLabel(runs.length)} runs with ${whom} find all of them again`
            : `${but} ${whom} find all of them again`;
  return `${verdictWords({ clusters }, verdict)}${again}.`;
}

export function stabilitySection({ model }: FittedRows, stability: Stability): string {
  const { k } = model.options;
  const [starts, without] = [stability.starts, stability.without.map(({ jaccards }) => jaccards)].map((of) =>
    meanJaccards(of, k),
  );
  const heading = [
    "cluster",
    "silhouette",
    "between clusters",
    ...(stability.starts.length > 0 ? ["other starts"] : []),
    ...(stability.without.length > 0 ? ["without a device", "least without"] : []),
  ];
  const rows = model.clusters.map((_, c): HtmlCell[] => [
    { html: reportMark(model, c), attributes: `data-cluster="${c}"` },
    figure(stability.silhouettes[c]),
    Number.isNaN(stability.between[c]) ? NOTHING : percent(stability.between[c]),
    ...(stability.starts.length > 0 ? [jaccardCell(starts[c])] : []),
    ...(stability.without.length > 0 ? [jaccardCell(without[c]), leastWithout(stability, c)] : []),
  ]);
  const file = model.clusters.map((_, c) => [
    reportName(model, c),
    ...[stability.silhouettes[c], stability.between[c], starts[c], without[c]].map((own) =>
      Number.isNaN(own) ? null : own,
    ),
  ]);
  return `<p>${escaped(aboutStability(stability))}</p>
${gapPictures({ clusters: model.clusters }, stability.verdict)}
${htmlTable({ heading, rows, names: 1, kind: "sortable" })}
${reportDownload("how-sure.csv", [["cluster", "simplified silhouette", "share between clusters", "Jaccard over other starts", "Jaccard without devices"], ...file])}
<p>${escaped(otherNumbers(stability, k))}</p>`;
}

/** The evidence of the verdict: where rows lie on the way from one cluster to its neighbour, the least apart first. */
function gapPictures(model: Clusters, verdict: Stability["verdict"]): string {
  if (verdict === undefined || verdict.pairs.length === 0) return "";
  const pairs = [...verdict.pairs].sort((x, y) => Number(x.isApart) - Number(y.isApart) || y.depth - x.depth);
  const pictures = pairs.slice(0, MOST_GAPS).map(({ a, b, bins, depth, isApart }) => {
    const lines = bins.map((own, look) => {
      const most = Math.max(1, ...own);
      const bars = Array.from(own, (count, i) => {
        const height = (GAP.line - 4) * (count / most);
        return `M${i * GAP.bar},${(look + 1) * GAP.line}v${(-height).toFixed(1)}h${GAP.bar - 1}V${(look + 1) * GAP.line}z`;
      });
      return `<path d="${bars.join("")}" fill="var(--${isApart ? "link-3" : "quiet"})"/>`;
    });
    const [width, height] = [GAP.bar * (bins[0]?.length ?? 0), GAP.line * bins.length];
    const names = `${reportName(model, a)} with ${reportName(model, b)}`;
    const said = isApart ? `apart: ${percent(depth)} of the lower peak left between` : "no gap can be shown";
    return `<figure class="strip"><figcaption>${escaped(names)}</figcaption><svg viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escaped(`Rows on the way from ${names}`)}">${lines.join("")}</svg><span class="small">${escaped(said)}</span></figure>`;
  });
  const left = pairs.length - pictures.length;
  const halves = pairs.some(({ bins }) => bins.length > 1)
    ? " Two lines: each half of the rows judged the clusters of the other."
    : "";
  return `<p>How many rows lie where on the way from a cluster to its neighbour, from a quarter of it before the first centroid to a quarter behind the second.${halves}${left > 0 ? ` ${counted(left, "pair")} with clearer gaps are not drawn.` : ""}</p>
<div class="multiples">${pictures.join("")}</div>`;
}

const MOST_GAPS = 9;
const GAP = { bar: 20, line: 30 } as const;

function figure(number: number | undefined): string {
  return number === undefined || Number.isNaN(number) ? NOTHING : number.toFixed(2);
}

function jaccardCell(jaccard: number): HtmlCell {
  if (Number.isNaN(jaccard)) return NOTHING;
  return { html: `${figure(jaccard)} <span class="small">${foundAgain(jaccard)}</span>` };
}

function leastWithout({ without }: Stability, c: number): HtmlCell {
  const known = without.filter(({ jaccards }) => !Number.isNaN(jaccards[c]));
  if (known.length === 0) return NOTHING;
  const least = known.reduce((a, b) => (b.jaccards[c] < a.jaccards[c] ? b : a));
  const [first, ...others] = least.devices;
  const whom = others.length === 0 ? first : `${first} and ${countLabel(others.length)} more`;
  return { html: `${figure(least.jaccards[c])} <span class="small">${escaped(whom)}</span>` };
}

const ABOUT_VERDICT =
  "Clusters are apart where rows thin out between neighbouring centroids by more than a test at the nominal level of " +
  "1 % for all pairs together allows, clearly where at most 35 % of the lower peak is left, for 80 % of the rows.";

function aboutStability({ rows, of, starts, without, refusals }: Stability): string {
  const looked =
    rows === of ? `all ${countLabel(of)} rows` : `a sample of ${countLabel(rows)} of the ${countLabel(of)} rows`;
  const groups = without.some(({ devices }) => devices.length > 1);
  const again = [
    ...(starts.length > 0 ? [`from ${counted(starts.length, "other start")}`] : []),
    ...(without.length > 0
      ? [
          groups
            ? `${counted(without.length, "time")} without a group of devices`
            : `without each of ${countLabel(without.length)} devices`,
        ]
      : []),
  ];
  return (
    `Computed on ${looked}. ${ABOUT_VERDICT} The simplified silhouette of a row is 1 less its distance to its own centroid over that to ` +
    "the next one: 1 is on its centroid, 0 is halfway. " +
    `Rows between clusters have a second centroid within ${NEAR} times the distance of their own.` +
    (again.length === 0
      ? ""
      : ` The same method ran again ${reportList(again)}; the Jaccard index says how much of a cluster came back, where 1 is all of it.`) +
    notExamined(refusals)
  );
}

/** What another fit would have said, and why there is none. */
function notExamined({ starts, without, others }: Stability["refusals"]): string {
  const named = { "other starts": starts, "fewer devices": without, "other numbers of clusters": others };
  return Object.entries(named)
    .map(([what, why]) =>
      why === undefined
        ? ""
        : ` ${what.replace(/^./, (letter) => letter.toUpperCase())} were not examined, because ${why}.`,
    )
    .join("");
}

/** The asked k beside its neighbours. */
function otherNumbers({ others, silhouette }: Stability, k: number): string {
  if (others.length === 0) return "";
  const said = others.map(({ k: other, silhouette: own }) => `${figure(own)} with k = ${other}`);
  const best = others.reduce((a, b) => (b.silhouette > a.silhouette ? b : a));
  const verdict =
    best.silhouette > silhouette
      ? `By this measure k = ${best.k} would be better apart.`
      : `By this measure k = ${k} is the best of these, and k = ${best.k} is the runner-up.`;
  return `The silhouette is ${figure(silhouette)} with k = ${k}, ${reportList(said)}. ${verdict} A silhouette also rises where a cluster is cut or two are joined, so fedkm counts by gaps.`;
}
