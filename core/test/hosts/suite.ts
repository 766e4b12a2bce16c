// What every host must agree on, as one function that runs anywhere: the conformance of the kernel and the bytes of data
// and results. The tests beside it run it in Chromium and on a newer Node, and compare with what this Node says.

import {
  communityData,
  fit,
  kmeans,
  type Matrix,
  type Partition,
  paperData,
  randomStream,
  ring,
} from "../../src/index.ts";
import { theWasmMachine } from "../../src/kernel/module.ts";
import { compare } from "../kernel/compare.ts";
import { largeProblemOf, problemOf } from "../kernel/problems.ts";

/** Every pair of the 40 numbers of columns and the 19 twists of kernel/problems.ts comes up once. */
const PROBLEMS = 40 * 19;
const LARGE_PROBLEMS = 5;

export interface HostReport {
  /** False where the kernel fell back to the reference, which would make the comparison empty. */
  readonly hasSimd: boolean;
  readonly isIsolated: boolean;
  /** The first places where an engine differs from the reference: must be empty. */
  readonly differences: readonly string[];
  /** The first 16 digits of sha256 of seeded data and of what is computed from them. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** The bytes of data that core/test/data/datasets.test.ts holds Node to. */
export const PINNED: Readonly<Record<string, string>> = {
  iso: "de85b6426c76db24",
  var: "11b79bf382611317",
  aniso: "846039cc3f3c2bba",
  communities: "30c55ea9e4a3fc34",
};

export async function report(): Promise<HostReport> {
  const differences: string[] = [];
  for (let seed = 0; seed < PROBLEMS; seed++) differences.push(...compare(problemOf(seed)));
  for (let seed = 0; seed < LARGE_PROBLEMS; seed++) differences.push(...compare(largeProblemOf(seed)));
  return {
    hasSimd: theWasmMachine() !== undefined,
    isIsolated: (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true,
    differences: differences.slice(0, 10),
    hashes: await hashes(),
  };
}

/** Of seeded data and of what is computed from them. */
export async function hashes(): Promise<Record<string, string>> {
  const iso = paperData("iso", 10, 100, 1);
  const random = randomStream(1, "hosts");
  const clustering = kmeans(iso.datasets[0], { k: 3, seed: 1 });
  const network = fit(iso.datasets, ring(10), { k: 3, alpha: 1, seed: 1 });
  return {
    iso: await digest(partsOf(iso)),
    var: await digest(partsOf(paperData("var", 10, 100, 1))),
    aniso: await digest(partsOf(paperData("aniso", 10, 100, 1))),
    communities: await digest(partsOf(communityData(5, 50, 1))),
    stream: await digest([Float64Array.from({ length: 1000 }, random)]),
    kmeans: await digest([clustering.centroids.data, clustering.labels, Float64Array.of(clustering.inertia)]),
    fit: await digest(network.centroids.map(({ data }: Matrix) => data)),
  };
}

function partsOf({ datasets, labels }: Partition): ArrayBufferView[] {
  return [...datasets.map(({ data }) => data), ...labels];
}

async function digest(parts: readonly ArrayBufferView[]): Promise<string> {
  const bytes = parts.flatMap(({ buffer, byteOffset, byteLength }) =>
    Array.from(new Uint8Array(buffer, byteOffset, byteLength)),
  );
  const hash = await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .slice(0, 16);
}
