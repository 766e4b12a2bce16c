// The annex for a data-protection impact assessment (GDPR, article 35), filled in as far as a device knows: flows, risks, measures and
// what remains. What only its owner knows is marked.

import { privacyWords } from "@fedkm/device";
import type { DeviceFolder } from "@fedkm/device/daemon";
import { countLabel } from "@fedkm/pictures";
import type { AuditAnswer } from "./answer.ts";

/** What left the device, as its audit log has it. */
export interface Departures {
  readonly sent: readonly Departure[];
  readonly added: readonly Departure[];
}

export interface Departure {
  readonly study: string;
  /** A kind of frame and its receiver, or a stage. */
  readonly what: string;
  readonly to: string | null;
  readonly peer: string | null;
  readonly first: string;
  readonly last: string;
  /** Frames and bytes, or how often and integers. */
  readonly times: number;
  readonly size: number;
}

/** Of docs/threats.md, those about who learns something of the rows: who, what it tries, and what stops it. */
export const assessedThreats: readonly (readonly [string, string, string])[] = [
  [
    "a curious neighbour",
    "computes means, counts or rows from what it is sent",
    "the privacy mode; with `open` nothing",
  ],
  [
    "two members that collude",
    "invent 244 devices, so that noise is shared with nobody",
    "only members are counted, and an honest owner must admit them",
  ],
  [
    "a member that leaves",
    "breaks off a private release for which the others have paid",
    "sums are sealed until they will be read, with it or without it",
  ],
  [
    "a stranger",
    "connects without being linked, in any number",
    "it is refused after it has proved its key, before any stream",
  ],
  ["a web page on the machine", "reads the metrics port", "the port is on 127.0.0.1, read-only, without centroids"],
  [
    "an old copy of a folder",
    "publishes or releases again what it has forgotten",
    "neighbours remember it, unless all are away",
  ],
];

const FILL_IN = "*to be filled in by the controller*";

export function assessmentAnnex(
  { name, study, limits = {} }: DeviceFolder,
  { sent, added }: Departures,
  attacks: AuditAnswer | { readonly none: string },
): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) => [
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
  ];
  const own = Object.entries(limits).map(
    ([limit, value]) => `- the owner's own limit ${limit}: ${JSON.stringify(value)}`,
  );
  const found =
    "none" in attacks
      ? [`Attacks were not run: ${attacks.none}.`]
      : [attacks.verdict, "", ...attacks.remaining.map((line) => `- ${line}`)];
  return [
    `# Annex to the impact assessment: study ${study.name}, device ${name}`,
    "",
    "## Processing",
    "",
    `- controller, purpose and legal basis: ${FILL_IN}`,
    `- columns that are read: ${study.features
      .map((feature) => feature.column ?? feature.name)
      .filter((column, i, all) => all.indexOf(column) === i)
      .join(", ")}`,
    "- rows stay in the files of this device; no server takes part",
    `- categories of persons and data, storage periods: ${FILL_IN}`,
    "",
    "## What left the device, and to whom",
    "",
    ...table(
      ["study", "frames of kind", "to", "first", "last", "frames", "bytes"],
      sent.map((one) => [
        one.study,
        one.what,
        one.to ?? "",
        one.first,
        one.last,
        countLabel(one.times),
        countLabel(one.size),
      ]),
    ),
    "",
    "What its rows added to sums over all devices, masked, by stage:",
    "",
    ...table(
      ["study", "stage", "first", "last", "times", "integers"],
      added.map((one) => [one.study, one.what, one.first, one.last, countLabel(one.times), countLabel(one.size)]),
    ),
    "",
    "## Risks and measures",
    "",
    ...table(["who", "what it tries", "what stops it"], assessedThreats),
    "",
    "## Measures in this study",
    "",
    `- privacy ${study.privacy}: ${privacyWords(study)}`,
    ...own,
    "- links and messages are encrypted and authenticated; every owner decides whom the device is linked to",
    "- what leaves the device is written down before it is sent, in a log whose lines are chained by hashes",
    "",
    "## Residual risk",
    "",
    ...found,
    "- A local administrator, traffic analysis and a majority of liars around a device are out of scope.",
    `- judgement of the data-protection officer: ${FILL_IN}`,
    "",
  ].join("\n");
}
