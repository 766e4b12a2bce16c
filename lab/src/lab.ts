// npm run lab -- SECTION [options]: everything that is measured, by sections. Without a section it lists them.

import { checkNames, UsageError } from "./parts.ts";

interface Section {
  readonly line: string;
  readonly options: string;
  /** What it needs beside this repository; what is not there is left out of its tables. */
  readonly needs: string;
  /** On two cores, all of it. */
  readonly takes: string;
  /** Its file, loaded only when it runs: a simulation needs no libp2p. */
  readonly load: () => Promise<{ run(args: string[]): void | Promise<void> }>;
}

const sections: Readonly<Record<string, Section>> = {
  speed: {
    line: "k-means and Algorithm 1 against peers, as ratios; growth, memory, sources, the playground",
    options: "[--only PART,...] [--workload NAME,...] [--quick]",
    needs: "Python with numpy, scikit-learn and faiss; Chromium, PostgreSQL, ClickHouse",
    takes: "1 h",
    load: () => import("./speed/speed.ts"),
  },
  lloyd: {
    line: "one k-means run against scikit-learn and FAISS, to 784 columns and 2,000 clusters",
    options: "[SHAPE...] [many] [--seed S]",
    needs: "Python with numpy, scikit-learn and faiss",
    takes: "30 min",
    load: () => import("./lloyd/lloyd.ts"),
  },
  readers: {
    line: "how fast files become rows, against DuckDB and Python",
    options: "[--quick]",
    needs: "Python with numpy and openpyxl",
    takes: "5 min",
    load: () => import("./readers/readers.ts"),
  },
  analyst: {
    line: "fedkm fit and choose on ten large files, against pandas and scikit-learn",
    options: "[--quick]",
    needs: "Python with pandas and scikit-learn; 4 GB of disk",
    takes: "15 min",
    load: () => import("./analyst/analyst.ts"),
  },
  differences: {
    line: "what each difference from the paper changes",
    options: "",
    needs: "nothing",
    takes: "15 s",
    load: () => import("./differences/differences.ts"),
  },
  quality: {
    line: "how often the answer is right",
    options: "[--only PART,...] [--seed S]",
    needs: "nothing",
    takes: "30 min",
    load: () => import("./quality/quality.ts"),
  },
  rivals: {
    line: "whether any setting of a method beats what compare gives it; exit code 1 if one does by more than 5 %",
    options: "[PART...] [--short]",
    needs: "nothing",
    takes: "30 min",
    load: () => import("./rivals/rivals.ts"),
  },
  faults: {
    line: "what devices do when things go wrong; exit code 1 if a bar is missed",
    options: "[PART...] [--short]",
    needs: "Linux; root for namespaces, routers and relays",
    takes: "1 h",
    load: () => import("./faults/faults.ts"),
  },
  integrity: {
    line: "members that forge the results of shared clusters; exit code 1 if a bar is missed",
    options: "[PART...] [--short]",
    needs: "nothing",
    takes: "1 h",
    load: () => import("./integrity/integrity.ts"),
  },
  audit: {
    line: "what liars and curious neighbours achieve; exit code 1 if a bar is missed",
    options: "[PART...] [--short]",
    needs: "nothing",
    takes: "30 min",
    load: () => import("./audit/audit.ts"),
  },
  private: {
    line: "differential privacy in 2 to 784 columns against FastLloyd and DPLloyd; exit code 1 if a bar is missed",
    options: "[PART...] [--short]",
    needs: "Python with scikit-learn and npm's packages for some of the sets",
    takes: "20 min",
    load: () => import("./private/private.ts"),
  },
  shared: {
    line: "shared clusters by masked sums: exactness, faults, costs; exit code 1 if a bar is missed",
    options: "[PART...] [--short]",
    needs: "nothing",
    takes: "1 h",
    load: () => import("./shared/shared.ts"),
  },
  mutants: {
    line: "errors planted in copies of the tree, and those that no test notices; exit code 1 if a bar is missed",
    options: "[named] [FOLDER...] [--seed S] [--count N]",
    needs: "Linux",
    takes: "2 h",
    load: () => import("./mutants/mutants.ts"),
  },
  pictures: {
    line: "draws the pictures of README and docs",
    options: "[--out FOLDER] [--screens] [--reports]",
    needs: "Chromium for --screens and --reports",
    takes: "10 s",
    load: () => import("./pictures/pictures.ts"),
  },
};

function list(): void {
  const names = Object.keys(sections);
  const width = Math.max(...names.map((name) => name.length));
  console.log("npm run lab -- SECTION [options]\n");
  for (const name of names) {
    const { line, options, needs, takes } = sections[name];
    const margin = " ".repeat(width + 4);
    console.log(`  ${name.padEnd(width)}  ${line} (${takes})`);
    if (options !== "") console.log(`${margin}${options}`);
    if (needs !== "nothing") console.log(`${margin}needs ${needs}`);
  }
}

const [name, ...args] = process.argv.slice(2);
try {
  if (name === undefined || name === "--help" || name === "-h") list();
  else {
    checkNames("a section", [name], Object.keys(sections));
    const { run } = await sections[name].load();
    await run(args);
  }
} catch (error) {
  const isUsage =
    error instanceof UsageError || String((error as { code?: unknown }).code).startsWith("ERR_PARSE_ARGS");
  if (!isUsage) throw error;
  console.error(`lab: ${(error as Error).message.split("\n")[0]}`);
  process.exitCode = 2;
}
