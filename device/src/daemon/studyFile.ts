// study.yaml before a device has it: read from its file, or drafted for a person to look over, with a reason for each field.

import { readFileSync } from "node:fs";
import { fileSystemReason } from "@fedkm/files";
import { privacyWords } from "../study/promises.ts";
import { budgetOf, type Feature, hasOpenColumns, type Study } from "../study/study.ts";
import type { Columns } from "./rowSource.ts";

/** The text of a file, or one line on why there is none. */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${file}: ${fileSystemReason(error)}`, { cause: error });
  }
}

/** What somebody who begins a study has decided. */
export interface StudyDraft extends Pick<Study, "name" | "alpha" | "privacy" | "epsilon" | "delta"> {
  /** Or from where to where its devices look for it together. */
  readonly k: number | { readonly from: number; readonly to: number };
  readonly features: readonly Feature[];
  readonly clusters: "personal" | "shared";
  /** Of a private study: rows of a device, about. */
  readonly typicalRows?: number;
  /** Of a private study with shared clusters: rows are released when so many devices are there. */
  readonly devices?: number;
  readonly founders?: readonly string[];
  /** Of a private study that protects persons. */
  readonly personColumn?: string;
}

/** Round bounds around what a file holds, with room for what other devices may hold; scaled by the spread, in one digit. */
export function studyFileBounds({ names, points }: Columns): Feature[] {
  const { data, rows, cols } = points;
  if (rows === 0) throw new Error("data must have rows to take bounds from, got none");
  return names.map((name, column) => {
    const values = Float64Array.from({ length: rows }, (_, row) => data[row * cols + column]);
    const least = values.reduce((a, b) => Math.min(a, b));
    const most = values.reduce((a, b) => Math.max(a, b));
    const mean = values.reduce((sum, value) => sum + value / rows, 0);
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2 / rows, 0));
    const step = 10 ** Math.floor(Math.log10(most > least ? most - least : Math.max(1, Math.abs(most))));
    const tidy = (value: number) => Number(value.toPrecision(12));
    const min = tidy((Math.floor(least / step) - 1) * step);
    const max = tidy((Math.ceil(most / step) + 1) * step);
    return { name, unit: "", min, max, scale: spread > 0 ? Number(spread.toPrecision(1)) : 1 };
  });
}

/** The text of the study's file. */
export function draftStudyFile(draft: StudyDraft): string {
  const { name, k, alpha, features, clusters, privacy, founders } = draft;
  const learnt = (mode: Study["privacy"]) => privacyWords({ privacy: mode, clusters });
  const lines = features.map(({ name: feature, unit, min, max, scale, open }) => {
    const title = `name: ${JSON.stringify(feature)}, unit: ${JSON.stringify(unit)}`;
    if (open === "category") return `  - { name: ${JSON.stringify(feature)}, levels: network }`;
    const numbers = `min: ${min}, max: ${max}, scale: ${scale}`;
    return `  - { ${title}, ${open === undefined ? numbers : "bounds: network, scale: network"} }`;
  });
  const isOpen = hasOpenColumns({ features });
  return `# The study: the same on every device, or they refuse each other.
name: ${JSON.stringify(name)}
${typeof k === "number" ? `# Clusters on every device.\nk: ${k}` : `${openClustersText}\nk: { from: ${k.from}, to: ${k.to} }`}
${isOpen ? openText : closedText}
features:
${lines.join("\n")}
${isOpen ? gapsText : ""}${clusters === "shared" ? `${sharedText}${founders === undefined ? "" : foundersText(founders)}` : personalText(alpha)}
# guarded: ${learnt("guarded")}.
# private: ${learnt("private")}.
# open: ${learnt("open")}.
privacy: ${privacy}
${budgetText(draft)}# What guarded promises. In both modes a device with fewer than k times as many rows sends nothing of its own.
minimum: 10
`;
}

const closedText =
  "# Columns of the data. Rows outside min and max do not count; a difference of `scale` units counts as 1.";

const openText = `# Columns of the data. What is "network" the devices find out together, by masked sums: range and spread of numbers, and
# the values of categories. Clusters begin when the owner of every device has approved of what was found.`;

const openClustersText = `# The devices find out together how many clusters there are, by masked sums; their owners approve of one of at most three
# numbers before clusters begin.`;

const gapsText = `# A missing cell takes the mean over all devices. Without this line a file with one is refused.
missing: mean
`;

const personalText = (alpha: number) => `# How strongly neighbours pull: 0 is alone, large is one clustering for all.
alpha: ${alpha}
coupling: nearest
# device: every device counts the same. sample: by its rows.
weighting: device
# doubted: what is far from all others counts less, in case a neighbour lies. trusted: all count in full.
neighbours: doubted`;

const sharedText = `# One clustering for all, as of all rows together, by sums that devices mask.
clusters: shared
# So many devices may put together what they know; each device needs one link more than that.
colluders: 1
# For more than about a hundred devices, of which nobody lies: sums go over a tree, and not to everybody.
# sums: tree
# neighbours: trusted`;

const foundersText = (founders: readonly string[]) => `
# The keys of its first members. Others count when \`vouchers\` members (default: colluders + 1) have admitted them.
founders:
${founders.map((key) => `  - ${key}`).join("\n")}`;

/** What only a private study says. */
function budgetText({ privacy, typicalRows, devices, personColumn, ...budget }: StudyDraft): string {
  if (privacy !== "private") return "";
  const { epsilon, delta, lifetime } = budgetOf(budget);
  const what = personColumn === undefined ? "Rows" : "Persons";
  return `# ${what} of a device, about: the noise is made for so many. Never count them for this.
typicalRows: ${typicalRows}
# What all releases of one version of a device's rows cost, how likely that may not hold, and what it may ever spend.
epsilon: ${epsilon}
delta: ${delta}
lifetimeEpsilon: ${lifetime}
${devices === undefined ? "" : `# Rows are released when so many devices are there, once for all of them.\ndevices: ${devices}\n`}${protectionText(personColumn)}`;
}

/** Whom the budget covers. */
function protectionText(personColumn: string | undefined): string {
  const column = personColumn === undefined ? "" : `personColumn: ${JSON.stringify(personColumn)}\n`;
  return `# What the budget covers: rows; persons, whose column is personColumn; or, with shared clusters, devices (then without typicalRows).
protects: ${personColumn === undefined ? "rows" : "persons"}
${column}`;
}
