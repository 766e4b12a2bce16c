// What is found out from a device's folder: the audit of its recording, and the evidence that a data officer files: study, what left
// it and to whom, budget, attacks on its own rows, model card, versions, and an annex for an impact assessment; no rows, no keys.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Matrix, randomStream } from "@fedkm/core";
import {
  budgetOf,
  contractOf,
  formatStudy,
  isOpenStudy,
  limitsFault,
  parseStudy,
  privacyWords,
  type Study,
  studyId,
} from "@fedkm/device";
import {
  type AuditLine,
  auditLineHash,
  type DeviceFolder,
  lastStatus,
  lookAtRowSource,
  readAudit,
  readFolder,
  readFolderRows,
  readHistory,
  readTextFile,
} from "@fedkm/device/daemon";
import { parseRecording, type Recording } from "@fedkm/device/inspect";
import { nodeSecrets } from "@fedkm/device/shared";
import { type AuditAnswer, auditAnswer } from "./answer.ts";
import { auditRecording, auditStudy } from "./audit.ts";
import {
  CRATE_FILE,
  CRATE_PROFILE,
  CRATE_VERSION,
  evidenceBytes,
  LOG_FILE,
  type Payload,
  WORKFLOW_PROFILE,
} from "./evidenceBag.ts";
import { assessmentAnnex, type Departure, type Departures } from "./impactAssessment.ts";

export { type CheckedEvidence, checkEvidence } from "./evidenceBag.ts";

/** Attacks on what a device sent and received, judged by the rows in its folder. */
export async function auditDevice(recording: string, state: string, env: EvidenceHost["env"]): Promise<AuditAnswer> {
  const folder = await readFolder(state);
  const { study, identity } = folder;
  const { tallies, frames, neighbours } = await auditRecording({
    recordings: readRecording(recording),
    self: identity.peer,
    study,
    rows: await readFolderRows(folder, env),
    history: await readHistory(state),
    ...(study.clusters === "shared" && { secrets: nodeSecrets(identity) }),
  });
  const links = `${neighbours} ${neighbours === 1 ? "neighbour" : "neighbours"}`;
  return auditAnswer(study, tallies, `a recording of ${folder.name}: ${frames} frames to ${links}`);
}

function readRecording(file: string): Recording[] {
  const text = readTextFile(file);
  try {
    return parseRecording(text);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The program that writes evidence: its versions, and where the passwords of databases are. */
export interface EvidenceHost {
  readonly fedkm: string;
  readonly node: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One zip archive, of how many files, and whose key signed it. */
export interface Evidence {
  readonly bytes: Uint8Array;
  readonly files: number;
  readonly peer: string;
}

/** Networks that are simulated around the device's own rows. */
const ATTACKED_NETWORKS = 5;
const OTHER_DEVICES = 3;

/** Of the device in the folder `state`, which runs or does not. Its rows are attacked in simulated networks, which takes a while. */
export async function deviceEvidence(state: string, at: Date, host: EvidenceHost): Promise<Evidence> {
  const folder = await readFolder(state);
  const log = await readAudit(state);
  if (log.broken !== undefined)
    throw new Error(
      `${log.broken.file} was changed before its line ${log.broken.line}, so it proves nothing: see fedkm device log --state ${state}`,
    );
  const departures = departuresIn(log.lines);
  const attacks = await attacksOn(folder, host.env);
  const files = new Map<string, string>([
    ["workflow/study.yaml", formatStudy(folder.study)],
    ...(await earlierStudies(folder)),
    ["departures.json", json(departures)],
    [LOG_FILE, shownLog(log.raw, folder.study)],
    ["ledger.json", json(ledgerOf(folder))],
    ["attacks.json", json(attacks)],
    ["model-card.md", modelCard(folder)],
    ["versions.json", json(await versionsOf(folder, log.last, host))],
    ["impact-assessment.md", assessmentAnnex(folder, departures, attacks)],
  ]);
  files.set("workflow/ro-crate-metadata.json", workflowCrate(folder.study, at, host.fedkm));
  const payload = withCrate(files, folder, at, host.fedkm);
  const bytes = await evidenceBytes(payload, folder.identity, host.fedkm, at);
  return { bytes, files: payload.size, peer: folder.identity.peer };
}

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

/** The lines about what left, put together by study, kind and receiver. */
export function departuresIn(lines: readonly AuditLine[]): Departures {
  const of = (event: "sent" | "added"): Departure[] => {
    const found = new Map<string, Departure>();
    for (const line of lines.filter((own) => own.event === event)) {
      const text = (name: string) => (typeof line[name] === "string" ? line[name] : null);
      const number = (...names: string[]) =>
        Number(names.map((name) => line[name]).find((value) => value !== undefined));
      const [study, what, peer] = [text("study") ?? "", text("what") ?? text("stage") ?? "", text("peer")];
      const key = `${study} ${what} ${peer}`;
      const before = found.get(key);
      found.set(key, {
        ...{ study, what, to: text("to"), peer },
        ...{ first: before?.first ?? line.at, last: line.at },
        times: (before?.times ?? 0) + number("frames", "times"),
        size: (before?.size ?? 0) + number("bytes", "integers"),
      });
    }
    return [...found.values()];
  };
  return { sent: of("sent"), added: of("added") };
}

/** How many rows there are is told to nobody but where the study is open: such lines are there by their hashes. */
const COUNTING_EVENTS = ["data", "released"];

function shownLog(raw: readonly string[], { privacy }: Study): string {
  const shown = raw.map((line) => {
    const { event, at, before } = parsed(line);
    if (privacy === "open" || !COUNTING_EVENTS.includes(event ?? "")) return { line };
    return { withheld: event, at, before, sha256: auditLineHash(line) };
  });
  return shown.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

function parsed(line: string): Partial<AuditLine> {
  try {
    return JSON.parse(line);
  } catch {
    // Cut off by a crash.
    return {};
  }
}

/** Studies that this one followed, such as the open one whose questions it answers, by their hashes. */
async function earlierStudies({ path }: DeviceFolder): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const name of readdirSync(path).filter((own) => own.startsWith("set-aside-"))) {
    try {
      const study = parseStudy(readFileSync(join(path, name, "study.yaml"), "utf8"));
      found.push([`studies/${studyId(await contractOf(study))}.yaml`, formatStudy(study)]);
    } catch {
      // Set aside without a study, by a reset.
    }
  }
  return found;
}

function ledgerOf({ path, study }: DeviceFolder) {
  if (study.privacy !== "private") return { privacy: study.privacy, budget: null };
  const { epsilon, delta, lifetime } = budgetOf(study);
  const { epsilonSpent = null, releases = null } = lastStatus(path)?.device.private ?? {};
  return { privacy: study.privacy, budget: { epsilon, delta, lifetime, epsilonSpent, releases } };
}

/** Every attack of the audit on this device's rows, among devices that hold others of the same kind. */
async function attacksOn(
  { data, study, limits = {} }: DeviceFolder,
  env: EvidenceHost["env"],
): Promise<AuditAnswer | { readonly none: string }> {
  if (isOpenStudy(study)) return { none: "the study is still open: there are no clusters to attack" };
  if (limitsFault(study, limits) !== undefined) return { none: "the device stays out of the study" };
  const { rows } = await lookAtRowSource({ data, study, limits }, env);
  if (!("data" in rows) || rows.rows === 0) return { none: "the rows are in a database, or there are none" };
  // Attackers are devices of the simulation, which no founder has named.
  const { founders: _, vouchers: __, ...attacked } = study;
  const datasets = [rows, ...Array.from({ length: OTHER_DEVICES }, (_, i) => similarRows(rows, study, i + 1))];
  const tallies = await auditStudy({ study: attacked, datasets, runs: 1, seed: 0 });
  for (let run = 1; run < ATTACKED_NETWORKS; run++) {
    // The first data set is attacked where the seed is a multiple of their number.
    const more = await auditStudy({ study: attacked, datasets, runs: 1, seed: run * datasets.length });
    for (const [i, own] of more.entries()) tallies[i] = { ...tallies[i], ...summed(tallies[i], own) };
  }
  return auditAnswer(study, tallies, `${ATTACKED_NETWORKS} simulated networks around the rows of this device`);
}

type Tallies = Awaited<ReturnType<typeof auditStudy>>;
function summed(a: Tallies[number], b: Tallies[number]) {
  const counts = ["tried", "groups", "withRows", "rows", "wrong", "guesses", "rightGuesses"] as const;
  const least = ["groupsError", "rowError", "smallestClass"] as const;
  const lower = (x: number | null, y: number | null) => (x === null ? y : y === null ? x : Math.min(x, y));
  return {
    ...Object.fromEntries(counts.map((name) => [name, a[name] + b[name]])),
    ...Object.fromEntries(least.map((name) => [name, lower(a[name], b[name])])),
  };
}

/** Each value moved within a tenth of its column's range: none of the own rows is among them. */
function similarRows({ data, rows, cols }: Matrix, { features }: Study, seed: number): Matrix {
  const random = randomStream(seed, "evidence");
  const moved = data.map((value, i) => {
    const { min, max } = features[i % cols];
    return Math.min(max, Math.max(min, value + 0.2 * (random() - 0.5) * (max - min)));
  });
  return { data: moved, rows, cols };
}

function modelCard({ path, name, study }: DeviceFolder): string {
  const { k, features, privacy, clusters } = study;
  const centroids = lastStatus(path)?.device.centroids;
  // What a guarded device computes with is finer than what it shows.
  const isShown = centroids != null && (privacy !== "guarded" || clusters === "shared");
  const table = isShown
    ? [
        `| cluster | ${features.map((feature) => feature.name).join(" | ")} |`,
        `| --- | ${features.map(() => "---").join(" | ")} |`,
        ...centroids.map((row, c) => `| ${c} | ${row.map((value) => value.toPrecision(4)).join(" | ")} |`),
      ]
    : ["The centroids are not shown here: there are none yet, or they stay with the device."];
  return [
    `# Model card: ${study.name}`,
    "",
    `k-means with ${k} clusters, ${clusters === "shared" ? "one clustering for all devices" : "each device has its own"}, as device ${name} has it.`,
    `Intended for grouping rows with the columns below; it says nothing about rows outside of their bounds.`,
    `Privacy is ${privacy}: ${privacyWords(study)}.`,
    "",
    "| column | unit | least | most |",
    "| --- | --- | --- | --- |",
    ...features.map(({ name: column, unit, min, max }) => `| ${column} | ${unit} | ${min} | ${max} |`),
    "",
    "## Clusters",
    "",
    ...table,
    "",
  ].join("\n");
}

async function versionsOf({ study, limits = {} }: DeviceFolder, lastLine: string, { fedkm, node }: EvidenceHost) {
  return {
    fedkm,
    node,
    study: studyId(await contractOf(study)),
    answers: study.answers ?? null,
    auditLog: lastLine,
    limits,
  };
}

const license = "https://spdx.org/licenses/CC0-1.0";

function crateOf(at: Date, root: object, entities: readonly object[]): string {
  const descriptor = {
    "@id": CRATE_FILE,
    "@type": "CreativeWork",
    about: { "@id": "./" },
    conformsTo: { "@id": CRATE_VERSION },
  };
  const dataset = {
    "@id": "./",
    "@type": "Dataset",
    datePublished: at.toISOString(),
    license: { "@id": license },
    ...root,
  };
  const graph = [descriptor, dataset, { "@id": license, "@type": "CreativeWork", name: "CC0 1.0" }, ...entities];
  return json({ "@context": `${CRATE_VERSION}/context`, "@graph": graph });
}

/** The study as a workflow that fedkm runs. */
function workflowCrate({ name }: Study, at: Date, version: string): string {
  const main = { "@id": "study.yaml" };
  const root = {
    name: `Study ${name}`,
    description: "The contract that all devices of a network share",
    conformsTo: { "@id": WORKFLOW_PROFILE },
    hasPart: [main],
    mainEntity: main,
  };
  return crateOf(at, root, [
    {
      ...main,
      "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
      name,
      programmingLanguage: { "@id": "#fedkm" },
    },
    { "@id": "#fedkm", "@type": "ComputerLanguage", name: "fedkm study", version },
  ]);
}

function withCrate(files: Payload, { name, identity, study }: DeviceFolder, at: Date, version: string): Payload {
  const workflow = { "@id": "workflow/" };
  const parts = [...files.keys()].map((own) => ({ "@id": own }));
  const root = {
    ...{
      name: `Evidence of device ${name}`,
      description: `What left device ${name} in study ${study.name}, and what protects its rows`,
    },
    ...{ conformsTo: { "@id": CRATE_PROFILE }, hasPart: [workflow, ...parts], mainEntity: workflow },
    ...{ mentions: { "@id": "#run" }, sourceOrganization: { "@id": "#project" } },
  };
  const entities = [
    { "@id": CRATE_PROFILE, "@type": "Profile", name: "Five Safes RO-Crate profile" },
    { ...workflow, "@type": "Dataset", name: study.name, conformsTo: { "@id": WORKFLOW_PROFILE } },
    ...parts.map((part) => ({ ...part, "@type": "File", name: part["@id"], encodingFormat: formatOf(part["@id"]) })),
    {
      ...{ "@id": "#run", "@type": "CreateAction", name: `Study ${study.name} on device ${name}` },
      ...{ instrument: workflow, agent: { "@id": "#owner" }, endTime: at.toISOString() },
      ...{ actionStatus: "http://schema.org/CompletedActionStatus", result: { "@id": "model-card.md" } },
    },
    {
      ...{
        "@id": "#disclosure",
        "@type": "AssessAction",
        additionalType: { "@id": "https://w3id.org/shp#DisclosureCheck" },
      },
      ...{ name: "Attacks on the rows of this device", object: { "@id": "./" }, result: { "@id": "attacks.json" } },
      ...{
        agent: { "@id": "#device" },
        endTime: at.toISOString(),
        actionStatus: "http://schema.org/CompletedActionStatus",
      },
    },
    {
      "@id": "#owner",
      "@type": "Person",
      name: `the owner of device ${name}`,
      affiliation: { "@id": "#site" },
      memberOf: { "@id": "#project" },
    },
    { "@id": "#site", "@type": "Organization", name: `the site of device ${name}` },
    { "@id": "#device", "@type": "SoftwareApplication", name, version, identifier: identity.peer },
    { "@id": "#project", "@type": "Project", name: study.name },
  ];
  return new Map([...files, [CRATE_FILE, crateOf(at, root, entities)]]);
}

function formatOf(file: string): string {
  if (file.endsWith(".json")) return "application/json";
  if (file.endsWith(".jsonl")) return "application/jsonl";
  return file.endsWith(".md") ? "text/markdown" : "application/yaml";
}
