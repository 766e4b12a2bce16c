// An audit on the terminal: a table with a row for each attack, the verdict, and what remains possible.

import { explanations, leakOf, remainingOf, rowsFound, type Tally, titles, verdictOf } from "@fedkm/audit";
import type { Study } from "@fedkm/device";
import { alignColumns, wrap } from "../../table.ts";

/** As --json has it. */
export interface Answer {
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

const WIDTH = 100;

export function answerOf(
  { name, privacy, minimum, epsilon }: Study,
  tallies: readonly Tally[],
  source: string,
): Answer {
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
    remaining: remainingOf(privacy, minimum),
  };
}

/** The figures of an attack, as they stand in a row; a dash where an attack is not about means or rows. */
export function figuresOf({ attack, tried, groups, withRows }: Answer["attacks"][number]): string[] {
  const isAboutMeans = ["inversion", "coalition", "bystander", "sketches"].includes(attack);
  return [String(tried), isAboutMeans ? String(groups) : "-", attack === "membership" ? "-" : String(withRows)];
}

export const heading = ["attack", "tried", "means found", "rows found"];

export function inWords(answer: Answer, page: string | undefined): string[] {
  const { study, privacy, minimum, epsilon, source, attacks, verdict, remaining } = answer;
  const promise = epsilon === undefined ? `minimum ${minimum}` : `epsilon ${epsilon}`;
  const rows = [heading, ...attacks.map((attack) => [attack.title, ...figuresOf(attack)])];
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
