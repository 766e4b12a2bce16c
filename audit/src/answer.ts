// The answer of an audit: what every attack found, as data and as one HTML page for the file of a data officer.

import { privacyWords, type Study } from "@fedkm/device";
import { escaped, htmlPage, htmlTable } from "@fedkm/pictures";
import { alignColumns, wrap } from "@fedkm/pictures/terminal";
import { explanations, leakOf, remainingAttacks, rowsFound, type Tally, titles, verdictOf } from "./outcome.ts";

/** As --json has it. */
export interface AuditAnswer {
  readonly study: string;
  readonly privacy: Study["privacy"];
  readonly minimum: number;
  /** Of a private study. */
  readonly epsilon?: number;
  /** What was attacked. */
  readonly source: string;
  readonly attacks: readonly (Tally & {
    readonly title: string;
    readonly explanation: string;
    /** The worst that it found. */
    readonly leak: string;
  })[];
  readonly rowsFound: number;
  readonly verdict: string;
  readonly remaining: readonly string[];
}

/** What attacks have found, in words and as data. */
export function auditAnswer(
  { name, privacy, minimum, epsilon }: Study,
  tallies: readonly Tally[],
  source: string,
): AuditAnswer {
  return {
    study: name,
    privacy,
    minimum,
    ...(epsilon !== undefined && { epsilon }),
    source,
    attacks: tallies.map((tally) => ({
      ...tally,
      title: titles[tally.attack],
      explanation: explanations[tally.attack],
      leak: leakOf(tally),
    })),
    rowsFound: rowsFound(tallies),
    verdict: verdictOf(privacy, tallies),
    remaining: remainingAttacks(privacy, minimum),
  };
}

/** The figures of an attack, as they stand in a row; a dash where an attack is not about means or rows. */
function attackFigures({ attack, tried, groups, withRows }: AuditAnswer["attacks"][number]): string[] {
  const isAboutMeans = ["inversion", "coalition", "bystander", "sketches"].includes(attack);
  return [String(tried), isAboutMeans ? String(groups) : "-", attack === "membership" ? "-" : String(withRows)];
}

/** Heads of the columns of a table of attacks. */
const attackHeading = ["attack", "tried", "means found", "rows found"];

/** `version` is that of the program that asked. */
export function auditPage(answer: AuditAnswer, version: string): string {
  const { study, privacy, minimum, epsilon, source, attacks, verdict, remaining } = answer;
  const title = `Privacy audit: ${study}`;
  const [attackName, ...figures] = attackHeading;
  const rows = attacks.map((attack) => [attack.title, attack.leak, ...attackFigures(attack)]);
  return htmlPage(
    title,
    `<h1>${escaped(title)}</h1>
<p>The mode is "${escaped(privacy)}" with ${epsilon === undefined ? `a minimum of ${minimum} rows` : `epsilon ${epsilon}`}. Attacked: ${escaped(source)}.</p>
<p>In this mode ${escaped(privacyWords({ privacy }))}.</p>
<h2>Verdict</h2>
<p class="answer"><strong>${escaped(verdict)}</strong></p>
<h2>What attackers learnt</h2>
<p>Every attack sees only what its attackers would see. A judge who knows the rows counts what is right.</p>
${htmlTable({ heading: [attackName, "the worst that was learnt", ...figures], rows, names: 2 })}
<h2>What remains possible</h2>
<ul>
${remaining.map((line) => `<li>${escaped(line)}</li>`).join("\n")}
</ul>
<h2>The attacks</h2>
<ul>
${attacks.map((attack) => `<li><strong>${escaped(attack.title)}</strong>: ${escaped(attack.explanation)}</li>`).join("\n")}
</ul>
<footer>fedkm ${escaped(version)}, fedkm audit</footer>`,
  );
}

const WIDTH = 100;

/** The same in lines for a terminal; `page` is the file of its page, where there is one. */
export function auditLines(answer: AuditAnswer, page: string | undefined): string[] {
  const { study, privacy, minimum, epsilon, source, attacks, verdict, remaining } = answer;
  const promise = epsilon === undefined ? `minimum ${minimum}` : `epsilon ${epsilon}`;
  const rows = [attackHeading, ...attacks.map((attack) => [attack.title, ...attackFigures(attack)])];
  const leaks = ["the worst that was learnt", ...attacks.map(({ leak }) => leak)];
  const lines = alignColumns(rows).map((line, n) => `${line}   ${leaks[n]}`);
  return [
    `Privacy "${privacy}" of study ${study}, ${promise}: ${source}`,
    "",
    ...lines,
    "",
    ...wrap(`Verdict: ${verdict}`, WIDTH),
    "",
    "What remains possible:",
    ...remaining.flatMap((line) => wrap(line, WIDTH - 2).map((part, n) => `${n === 0 ? "- " : "  "}${part}`)),
    ...(page === undefined ? [] : ["", `wrote ${page}`]),
  ];
}
