// A signed folder for a data officer, as one zip file: BagIt (RFC 8493) with SHA-512 manifests around an RO-Crate of the Five Safes
// profile. Written and checked here; nothing is packed, so that the same files always give the same bytes.

import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { auditLineHash, type Identity, isSignedBy, signStatement } from "@fedkm/device/daemon";
import { readZip, zipBytes } from "@fedkm/files";

/** Of the payload, by their paths in it. */
export type Payload = ReadonlyMap<string, string>;

export const CRATE_FILE = "ro-crate-metadata.json";
export const CRATE_PROFILE = "https://w3id.org/5s-crate/0.4";
export const CRATE_VERSION = "https://w3id.org/ro/crate/1.2";
export const WORKFLOW_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0";

const FOLDER = "evidence/";
const DATA = "data/";
const [MANIFEST, TAG_MANIFEST, SIGNATURE] = ["manifest-sha512.txt", "tagmanifest-sha512.txt", "signature.txt"];
const TAG_FILES = ["bag-info.txt", "bagit.txt", MANIFEST];
const STATEMENT = "evidence";

const sha512 = (bytes: Uint8Array) => createHash("sha512").update(bytes).digest("hex");
const utf8 = (text: string) => new TextEncoder().encode(text);
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

/** One line for each file, sorted. */
function manifestOf(files: Iterable<readonly [string, Uint8Array]>): Uint8Array {
  const lines = [...files].sort(byName).map(([name, bytes]) => `${sha512(bytes)}  ${name}\n`);
  return utf8(lines.join(""));
}

export async function evidenceBytes(payload: Payload, identity: Identity, version: string, at: Date) {
  const data = [...payload].map(([name, text]) => [DATA + name, utf8(text)] as const);
  const bytes = data.reduce((sum, [, own]) => sum + own.length, 0);
  const about = [
    `Bag-Software-Agent: fedkm ${version}`,
    `Bagging-Date: ${at.toISOString().slice(0, 10)}`,
    `External-Identifier: urn:uuid:${randomUUID()}`,
    `Payload-Oxum: ${bytes}.${data.length}`,
  ];
  const tags = new Map([
    ["bagit.txt", utf8("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")],
    ["bag-info.txt", utf8(`${about.join("\n")}\n`)],
    [MANIFEST, manifestOf(data)],
  ]);
  const signed = manifestOf(tags);
  const signature = Buffer.from(signStatement(identity, STATEMENT, signed)).toString("hex");
  const files = [
    ...data,
    ...tags,
    [TAG_MANIFEST, signed] as const,
    [SIGNATURE, utf8(signatureText(identity.peer, signature))] as const,
  ];
  return zipBytes(bagEntries(new Map(files)));
}

const signatureText = (peer: string, signature: string) => `${peer} ${signature}\n`;

/** In the one order that an archive of ours has. */
function bagEntries(files: ReadonlyMap<string, Uint8Array>) {
  return [...files].sort(byName).map(([name, bytes]) => ({ name: FOLDER + name, bytes }));
}

/** What an archive of evidence says, whose it is, and what is wrong with it. */
export interface CheckedEvidence {
  /** Whose key signed it. */
  readonly peer: string;
  readonly payload: Payload;
  /** The first thing that is wrong; undefined: nothing is. */
  readonly fault: string | undefined;
}

/** Throws where the file is no zip archive at all. */
export async function checkEvidence(path: string): Promise<CheckedEvidence> {
  const archived = await readZip(path);
  const files = new Map(
    [...archived].map(([name, bytes]) => [name.startsWith(FOLDER) ? name.slice(FOLDER.length) : `/${name}`, bytes]),
  );
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  const [peer = "", signature = ""] = text(SIGNATURE).trimEnd().split(" ");
  const data = [...files].filter(([name]) => name.startsWith(DATA));
  const payload = new Map(data.map(([name, bytes]) => [name.slice(DATA.length), new TextDecoder().decode(bytes)]));
  const fault = async (): Promise<string | undefined> => {
    const expected = [...TAG_FILES, TAG_MANIFEST, SIGNATURE];
    const missing = expected.find((name) => !files.has(name));
    if (missing !== undefined) return `${missing} is missing`;
    const stranger = [...files.keys()].find((name) => !name.startsWith(DATA) && !expected.includes(name));
    if (stranger !== undefined) return `${stranger} is none of its files`;
    const manifestFault = differenceOf(text(MANIFEST), new TextDecoder().decode(manifestOf(data)));
    if (manifestFault !== undefined) return manifestFault;
    const tags = TAG_FILES.map((name) => [name, files.get(name) ?? new Uint8Array(0)] as const);
    const tagFault = differenceOf(text(TAG_MANIFEST), new TextDecoder().decode(manifestOf(tags)));
    if (tagFault !== undefined) return tagFault;
    const isHex = /^[0-9a-f]{128}$/.test(signature) && text(SIGNATURE) === signatureText(peer, signature);
    const bytes = files.get(TAG_MANIFEST) ?? new Uint8Array(0);
    if (!isHex || !isSignedBy(peer, STATEMENT, bytes, Buffer.from(signature, "hex")))
      return "its signature is not that of the device that it names";
    // What no checksum covers: names, dates and places in the archive.
    const again = await zipBytes(bagEntries(files));
    if (!Buffer.from(again).equals(await readFile(path))) return "the archive is not as it was written";
    return chainFault(payload) ?? crateFault(payload, text("bag-info.txt"));
  };
  return { peer, payload, fault: await fault() };
}

/** The log of the device, whose lines carry the hash of the line before; some are there by their hashes only. */
export const LOG_FILE = "audit-log.jsonl";

function chainFault(payload: Payload): string | undefined {
  let before: string | undefined;
  for (const [n, text] of (payload.get(LOG_FILE) ?? "").trimEnd().split("\n").entries()) {
    const { line, sha256, before: withheld } = parsedJson(text);
    const own = line === undefined ? withheld : parsedJson(line).before;
    // A line that a crash cut off says nothing; the one after it does.
    if (before !== undefined && own !== undefined && own !== before)
      return `${LOG_FILE} was changed before its line ${n + 1}`;
    before = line === undefined ? sha256 : auditLineHash(line);
  }
  return before === parsedJson(payload.get("versions.json") ?? "").auditLog
    ? undefined
    : `${LOG_FILE} does not end where it did`;
}

function parsedJson(text: string): Readonly<Record<string, string | undefined>> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** The first line of one list of checksums that is not in the other. */
function differenceOf(written: string, computed: string): string | undefined {
  if (written === computed) return undefined;
  const lines = (text: string) => text.split("\n");
  const changed = lines(computed).find((line) => !lines(written).includes(line));
  const gone = lines(written).find((line) => !lines(computed).includes(line));
  const name = (line: string | undefined) => line?.split("  ")[1];
  return `${name(changed) ?? name(gone) ?? "a list of checksums"} is not as its checksum says`;
}

type Entity = Readonly<Record<string, unknown>> & {
  readonly "@id": string;
  readonly "@type": string | readonly string[];
};

/** What RO-Crate 1.2 and the Five Safes profile demand, as far as a program can tell; undefined: all of it is there. */
export function crateFault(payload: Payload, bagInfo: string): string | undefined {
  const graph = graphOf(payload.get(CRATE_FILE));
  if (graph === undefined) return `${CRATE_FILE} is no list of entities`;
  const entity = (id: string | undefined) => graph.find((own) => own["@id"] === id);
  const isA = (own: Entity | undefined, type: string) => [own?.["@type"]].flat().includes(type);
  const root = entity("./");
  const workflow = entity(idIn(root?.mainEntity));
  const action = entity(idIn(root?.mentions));
  const parts = referencesIn(root?.hasPart);
  const files = [...payload.keys()].filter((name) => name !== CRATE_FILE);
  const loose = graph
    .flatMap((own) => Object.values(own).flatMap(referencesIn))
    .find((id) => entity(id) === undefined && !/^https?:/.test(id));
  const rules: readonly [boolean, string][] = [
    [new Set(graph.map((own) => own["@id"])).size === graph.length, "every entity has an @id of its own"],
    [graph.every((own) => own["@type"] !== undefined), "every entity has a @type"],
    [
      idIn(entity(CRATE_FILE)?.about) === "./" && isA(entity(CRATE_FILE), "CreativeWork"),
      "the metadata file is about the root",
    ],
    [idIn(entity(CRATE_FILE)?.conformsTo) === CRATE_VERSION, "the metadata file conforms to RO-Crate 1.2"],
    [isA(root, "Dataset"), "the root is a Dataset"],
    [
      ["name", "description", "datePublished", "license"].every((name) => root?.[name] !== undefined),
      "the root has name, description, datePublished and license",
    ],
    [idIn(root?.conformsTo) === CRATE_PROFILE, "the root conforms to the Five Safes profile"],
    [
      files.every((name) => parts.includes(name) && isA(entity(name), "File")),
      "every file of the payload is a part of the root",
    ],
    [
      parts.every((id) => payload.has(id) || isA(entity(id), "Dataset")),
      "every part of the root is a file of the payload",
    ],
    [
      isA(workflow, "Dataset") && idIn(workflow?.conformsTo) === WORKFLOW_PROFILE,
      "the main entity is a Workflow RO-Crate",
    ],
    [
      isA(action, "CreateAction") && idIn(action?.instrument) === workflow?.["@id"],
      "the root mentions the run of its workflow",
    ],
    [isA(entity(idIn(action?.agent)), "Person"), "the run has a person as its agent"],
    [isA(entity(idIn(root?.sourceOrganization)), "Project"), "the root names its project"],
    [loose === undefined, `every reference is to an entity (${loose})`],
    [/^External-Identifier: urn:uuid:[0-9a-f-]{36}$/m.test(bagInfo), "bag-info.txt has an External-Identifier"],
  ];
  const broken = rules.find(([isKept]) => !isKept);
  return broken && `it must keep the rule that ${broken[1]}`;
}

function graphOf(text: string | undefined): readonly Entity[] | undefined {
  try {
    const { "@context": context, "@graph": graph } = JSON.parse(text ?? "");
    return context === `${CRATE_VERSION}/context` && Array.isArray(graph) ? graph : undefined;
  } catch {
    return undefined;
  }
}

const idIn = (value: unknown): string | undefined => (value as { "@id"?: string } | undefined)?.["@id"];
const referencesIn = (value: unknown): string[] => [value].flat().flatMap((one) => idIn(one) ?? []);
