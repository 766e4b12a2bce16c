// npm run lab -- mutants: errors are planted one by one in copies of the tree, and what no test notices is listed. Errors that
// once went unnoticed are planted by name, others by chance in the folders that hold promises.

import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { randomStream } from "@fedkm/core";
import { print, progress, scratchFolder } from "../measure.ts";
import { checkNames } from "../parts.ts";
import { type MutatedFolder, mutatedFolders } from "./folders.ts";
import { smallErrors } from "./operators.ts";
import { type Outcome, type Plant, PlantingTree } from "./planting.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const NAMED = "named";

/** Errors that once went unnoticed, where their lines are now; those that have no line any more; changes nobody can see. */
interface NamedErrors {
  readonly plants: readonly (Plant & { readonly name: string })[];
  readonly notPlanted: readonly { readonly name: string; readonly why: string }[];
  readonly harmless: readonly { readonly file: string; readonly change: string; readonly why: string }[];
}

const { plants, notPlanted, harmless }: NamedErrors = JSON.parse(
  readFileSync(join(root, "lab/src/mutants/named.json"), "utf8"),
);

interface Candidate extends Plant {
  /** The folder, or "named". */
  readonly group: string;
  readonly words: string;
}

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { seed: { type: "string", default: "1" }, count: { type: "string", default: "40" } },
    allowPositionals: true,
  });
  const groups = [NAMED, ...mutatedFolders.map(({ folder }) => folder)];
  checkNames("a folder", positionals, groups);
  const isAsked = (group: string) => positionals.length === 0 || positionals.includes(group);
  const candidates = [
    ...plants.map((plant) => ({ ...plant, group: NAMED, words: plant.name })),
    ...mutatedFolders.flatMap((folder) => drawn(folder, Number(values.seed), Number(values.count))),
  ].filter(({ group }) => isAsked(group));
  const outcomes = await planted(candidates);
  report(candidates, outcomes);
  if (isAsked(NAMED)) for (const { name, why } of notPlanted) console.log(`  ${name}: ${why}`);
}

/** So many errors of a folder, of all its files in turn. */
function drawn({ folder, tests }: MutatedFolder, seed: number, count: number): Candidate[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) => {
    return name.endsWith(".ts") && !name.endsWith("index.ts");
  });
  const byFile = files.sort().map((name) => {
    const file = join(folder, name);
    const source = readFileSync(join(root, file), "utf8");
    const errors = smallErrors(source).map((error): Candidate => {
      const [from, to] = [source.lastIndexOf("\n", error.start) + 1, lineEnd(source, error.end)];
      const [before, after] = [source.slice(from, error.start), source.slice(error.end, to)];
      const line = source.slice(0, error.start).split("\n").length;
      const replacement = before + error.replacement + after;
      const words = `${file}:${line}  ${shown(source.slice(from, to))}  ->  ${shown(replacement)}`;
      return { file, ...uniqueText(source, from, to, replacement), tests, group: folder, words };
    });
    const random = randomStream(seed, file);
    return errors
      .map((error) => ({ error, place: random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ error }) => error);
  });
  const longest = Math.max(0, ...byFile.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, round) => byFile.flatMap((errors) => errors[round] ?? [])).flat();
  return inTurn.filter((candidate) => reasonOf(candidate) === undefined).slice(0, count);
}

/** Why an error of this kind is not planted again: it changes nothing that a test could see. */
function reasonOf({ file, words }: Candidate): string | undefined {
  return harmless.find((one) => one.file === file && words.includes(one.change))?.why;
}

const lineEnd = (source: string, at: number) => {
  const end = source.indexOf("\n", at);
  return end < 0 ? source.length : end;
};

/** The lines of an error, with as many before them as make them the only ones. */
function uniqueText(source: string, from: number, to: number, replacement: string) {
  let start = from;
  while (start > 0 && source.indexOf(source.slice(start, to)) !== source.lastIndexOf(source.slice(start, to))) {
    start = source.lastIndexOf("\n", start - 2) + 1;
  }
  return { text: source.slice(start, to), replacement: source.slice(start, from) + replacement };
}

const shown = (text: string) => text.trim().replaceAll(/\s+/g, " ").slice(0, 110);

async function planted(candidates: readonly Candidate[]): Promise<(Outcome | undefined)[]> {
  const scratch = scratchFolder("mutants");
  const workers = Math.min(availableParallelism(), candidates.length);
  const trees = Array.from({ length: workers }, (_, i) => new PlantingTree(root, join(scratch, String(i))));
  const outcomes: (Outcome | undefined)[] = Array(candidates.length).fill(undefined);
  const usual = new Map<string, Promise<number | undefined>>();
  let [next, done, survived] = [0, 0, 0];
  const work = async (tree: PlantingTree) => {
    while (next < candidates.length) {
      const at = next++;
      const candidate = candidates[at];
      const key = candidate.tests.join(" ");
      const seconds = usual.get(key) ?? tree.seconds(candidate.tests);
      usual.set(key, seconds);
      const known = await seconds;
      if (known !== undefined) outcomes[at] = await tree.plant(candidate, known);
      if (outcomes[at]?.kind === "survived") survived++;
      progress(bar(++done, candidates.length, survived));
      if (!process.stderr.isTTY) console.log(`${done}/${candidates.length} ${words(outcomes[at])}  ${candidate.words}`);
    }
  };
  await Promise.all(trees.map(work));
  progress("");
  return outcomes;
}

const BAR = 30;

function bar(done: number, of: number, survived: number): string {
  const full = Math.floor((BAR * done) / of);
  return `${"#".repeat(full)}${".".repeat(BAR - full)} ${done} of ${of} errors planted, ${survived} not noticed`;
}

const words = (outcome: Outcome | undefined) => outcome?.kind ?? "its tests fail without it";

function report(candidates: readonly Candidate[], outcomes: readonly (Outcome | undefined)[]): void {
  const groups = [...new Set(candidates.map(({ group }) => group))];
  const missed: string[] = [];
  const rows = groups.map((group) => {
    const own = outcomes.filter((_, at) => candidates[at].group === group);
    const noticed = own.filter((outcome) => outcome?.kind === "noticed" || outcome?.kind === "hung").length;
    const least = mutatedFolders.find(({ folder }) => folder === group)?.least ?? 1;
    if (noticed < least * own.length) missed.push(group);
    return [group, `${own.length}`, `${noticed}`, percent(noticed / own.length), percent(least)];
  });
  print("Planted errors", [["folder", "planted", "noticed", "score", "bar"], ...rows]);
  const lines = candidates.map((candidate, at) => ({ candidate, outcome: outcomes[at] }));
  console.log("\nNoticed by");
  for (const { candidate, outcome } of lines)
    if (candidate.group === NAMED && outcome?.kind === "noticed")
      console.log(`  ${candidate.words}\n    ${outcome.by}`);
  console.log("\nNot noticed");
  for (const { candidate, outcome } of lines)
    if (outcome?.kind !== "noticed" && outcome?.kind !== "hung") console.log(`  ${words(outcome)}  ${candidate.words}`);
  console.log("\nNot planted, because nobody could notice");
  for (const { file, change, why } of harmless) console.log(`  ${file}  ${change}: ${why}`);
  if (missed.length === 0) return;
  console.log(`\nMissed: ${missed.join(", ")}.`);
  process.exitCode = 1;
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
