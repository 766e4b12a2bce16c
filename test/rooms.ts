// The house as a table: every package and folder, what it holds, and what it imports. The boundaries test holds the code
// to it, and the pictures and lists of docs/architecture.md are drawn from it.

interface Room {
  /** What a newcomer finds here. */
  readonly holds: string;
  /** The folders of the same package that it imports. */
  readonly imports?: readonly string[];
}

export interface Package {
  readonly holds: string;
  /** Where it runs. */
  readonly runs: string;
  /** The packages of ours that it imports. */
  readonly imports: readonly string[];
  /** The folders of its `src`, from the bottom up; `.` are files beside them that they stand on. None: it is one room. */
  readonly rooms?: Readonly<Record<string, Room>>;
}

const core: Package = {
  holds: "the algorithm, its baselines and its measures; it depends on munkres and pure-rand only",
  runs: "Node and browsers",
  imports: [],
  rooms: {
    data: { holds: "matrices, seeded random numbers, exact sums, checks of arguments, defaults, generated data sets" },
    graph: {
      holds: "networks, the usual families of them, their spectrum, and what messages over them cost",
      imports: ["data"],
    },
    kernel: {
      holds: "(E1): points in, statistics and labels out; WebAssembly, JavaScript, threads, k-means++",
      imports: ["data"],
    },
    update: {
      holds: "one device update, line 5 of Algorithm 1: (E2), (E3), (M), penalties, the robust pull",
      imports: ["data", "graph", "kernel"],
    },
    privacy: {
      holds: "guarded classes of rows, releases with discrete Gaussian noise, budgets, what neighbours can compute",
      imports: ["data", "kernel", "update"],
    },
    start: {
      holds: "where devices begin: own k-means, sketches, the federated start",
      imports: ["data", "graph", "kernel", "privacy", "update"],
    },
    fit: {
      holds: "Algorithm 1 over a whole network: its options, its one loop, schedules, joint steps, when it has settled",
      imports: ["data", "graph", "kernel", "privacy", "start", "update"],
    },
    sources: {
      holds: "the same where rows stay in their sources: a few passes instead of one per update",
      imports: ["data", "fit", "graph", "kernel"],
    },
    measures: {
      holds: "GCD, CV, agreement of labels, silhouette, the objective, the certificate",
      imports: ["data", "fit", "graph", "kernel", "update"],
    },
    methods: {
      holds: "what fedkm is compared with, one file for each method, each saying which options it takes",
      imports: ["data", "fit", "graph", "kernel", "measures", "start", "update"],
    },
    choose: {
      holds: "k, alpha and links without pooling rows",
      imports: ["data", "fit", "graph", "kernel", "measures", "start"],
    },
    async: {
      holds: "fit, kmeans and choose in a worker, with progress and abort",
      imports: ["choose", "data", "fit", "graph", "kernel", "start"],
    },
  },
};

const files: Package = {
  holds: "bytes to rows and rows to labelled bytes; refusals as data; no network",
  runs: "Node and browsers",
  imports: ["core"],
  rooms: {
    source: { holds: "bytes of a file or a Blob, unpacked and decoded; what a refusal says; limits" },
    table: { holds: "cells to numbers, the columns that are wanted, the rows read so far", imports: ["source"] },
    csv: {
      holds: "CSV and TSV: dialect, delimiter guess, the fast and the careful reader, labels",
      imports: ["source", "table"],
    },
    parquet: { holds: "Parquet, page by page", imports: ["source", "table"] },
    xlsx: { holds: "Excel workbooks", imports: ["csv", "source", "table"] },
    prepare: {
      holds: "scaling, missing cells, categories, quantiles and profiles of columns",
      imports: ["source", "table"],
    },
    node: { holds: "files by name, patterns, Node's decompressors", imports: ["source"] },
    browser: { holds: "files that were dropped on a page", imports: ["source"] },
  },
};

const device: Package = {
  holds: "one device on a real network, and the simulation of many",
  runs: "Node and browsers",
  imports: ["core", "files", "sql"],
  rooms: {
    ".": { holds: "what a device needs of the outside: a network, a clock, memory" },
    wire: {
      holds: "all kinds of frames in one table, their layout to the byte, all limits, hashes, recordings",
      imports: ["."],
    },
    study: {
      holds: "the contract that all devices share, its hash, rows on its scale, rows in a database",
      imports: ["wire"],
    },
    keys: { holds: "identities, successors, revocations, and how devices exchange them", imports: [".", "wire"] },
    privacy: { holds: "guarded rows and their history, private releases and their ledger", imports: ["study", "wire"] },
    loop: {
      holds: "the loop of personal clusters: updates, neighbours, openings, what is sent and when, status",
      imports: [".", "keys", "privacy", "study", "wire"],
    },
    sharedClusters: {
      holds: "one clustering for all: the board of masked sums, generations, rosters, releases",
      imports: [".", "keys", "loop", "privacy", "study", "wire"],
    },
    change: {
      holds: "a change of study: two loops over one network, proposals",
      imports: [".", "loop", "sharedClusters", "study", "wire"],
    },
    links: {
      holds: "libp2p: connections, retries, relays, addresses, silence, who may connect",
      imports: [".", "keys", "wire"],
    },
    disk: {
      holds: "state, history, keys, links and the audit log as files: whole or not there",
      imports: [".", "keys", "links", "loop", "privacy", "study", "wire"],
    },
    simulation: {
      holds: "a clock and links in memory: the same loop, thousands of devices, replayed bit for bit",
      imports: [".", "change", "disk", "keys", "loop", "privacy", "study", "wire"],
    },
    daemon: {
      holds: "one device as a long-running program: folders, owner's changes, notices, metrics, backups",
      imports: [".", "change", "disk", "keys", "links", "loop", "privacy", "simulation", "study", "wire"],
    },
  },
};

export const packages: Readonly<Record<string, Package>> = {
  core,
  files,
  device,
};
