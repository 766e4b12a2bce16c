// The house as a table: every package and folder, what it holds, and what it imports. The boundaries test holds the code
// to it, and the pictures and lists of docs/architecture.md are drawn from it.

import { ROOF } from "./imports.ts";

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
    data: {
      holds:
        "matrices and vectors (rows, columns, ranges), every check of arguments, seeded random numbers, exact sums, defaults, made data sets and their splits",
    },
    graph: {
      holds: "graphs: the usual families, components, spanning forests, spectrum, and what traffic over links costs",
      imports: ["data"],
    },
    kernel: {
      holds:
        "(E1): points in, statistics, labels and losses out (predict); WebAssembly, JavaScript, threads, k-means++",
      imports: ["data"],
    },
    update: {
      holds:
        "one device update, line 5 of Algorithm 1: (E2), (E3), (M), coupling of centroid sets, penalties, the robust pull",
      imports: ["data", "graph", "kernel"],
    },
    privacy: {
      holds:
        "guarded devices and classes of rows, releases with discrete Gaussian noise, budgets, what neighbours can compute from equations",
      imports: ["data", "kernel", "update"],
    },
    start: {
      holds: "where devices begin: own k-means, sketches, empty clusters, the federated start",
      imports: ["data", "graph", "kernel", "privacy", "update"],
    },
    fit: {
      holds:
        "Algorithm 1 over a whole network: its options, its state in memory, its one loop of rounds, schedules, joint steps, when it has settled",
      imports: ["data", "graph", "kernel", "privacy", "start", "update"],
    },
    release: {
      holds:
        "k-means from noisy sums (differential privacy in many columns): the rounds of a release, and its Gaussian budget",
      imports: ["data", "kernel", "privacy", "start"],
    },
    sources: {
      holds: "the same where rows stay in their sources: what a source answers, a few passes instead of one per update",
      imports: ["data", "fit", "graph", "kernel"],
    },
    measures: {
      holds: "GCD, CV, agreement of labels, silhouette, the objective, the certificate",
      imports: ["data", "fit", "graph", "kernel", "update"],
    },
    methods: {
      holds:
        "what fedkm is compared with, one file for each method (flooding, ADMM, gradients), which options each takes, and how to make one",
      imports: ["data", "fit", "graph", "kernel", "measures", "start", "update"],
    },
    choose: {
      holds:
        "choosing k, alpha and links without pooling rows, and whether clusters are apart: valleys in tubes between centroids",
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
    parquet: { holds: "Parquet, page by page, and its footer in Thrift", imports: ["source", "table"] },
    xlsx: { holds: "workbooks of Excel and LibreOffice", imports: ["csv", "source", "table"] },
    prepare: {
      holds: "scaling, missing cells, categories, quantiles and profiles of columns",
      imports: ["source", "table"],
    },
    formats: {
      holds:
        "one door to all formats: a file read, labelled or converted; JSON, NumPy arrays, archives; files of links and bounds",
      imports: ["csv", "parquet", "source", "table", "xlsx"],
    },
    browser: { holds: "files that were dropped on a page", imports: ["source"] },
    node: {
      holds: "files by name, patterns, Node's decompressors, why the file system refuses",
      imports: ["browser", "source"],
    },
  },
};

const device: Package = {
  holds: "one device on a real network, and the simulation of many",
  runs: "Node and browsers",
  imports: ["core", "files", "sql"],
  rooms: {
    ".": {
      holds:
        "what a device needs of the outside: a network, a clock with alarms and allowances, the reason of an error",
    },
    wire: {
      holds: "all kinds of frames in one table, their layout to the byte, all limits, hashes, recordings",
      imports: ["."],
    },
    study: {
      holds: "the contract that all devices share, its hash, rows on its scale, rows in a database",
      imports: ["wire"],
    },
    keys: {
      holds: "peers with their addresses, identities, invites, statements about keys, and how devices exchange them",
      imports: [".", "wire"],
    },
    privacy: { holds: "guarded rows and their history, private releases and their ledger", imports: ["study", "wire"] },
    loop: {
      holds:
        "the loop of personal clusters: updates, neighbours, openings, sketches, what is sent, remembered and refused, status",
      imports: [".", "keys", "privacy", "study", "wire"],
    },
    sharedClusters: {
      holds:
        "one clustering for all: boards of signed, masked integers, bases with openings and proofs, rosters, releases",
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
      holds:
        "state, history, keys with rotations and known revocations, links and the audit log as files: whole or not there",
      imports: [".", "keys", "links", "loop", "privacy", "study", "wire"],
    },
    simulation: {
      holds:
        "a clock and links in memory: the same loop, thousands of devices, replayed bit for bit; a study as a fit of tables takes it",
      imports: [".", "change", "keys", "loop", "privacy", "study", "wire"],
    },
    daemon: {
      holds:
        "one device as a program: its folder and row sources, owner's changes, strangers, notices, metrics, backups",
      imports: [".", "change", "disk", "keys", "links", "loop", "privacy", "sharedClusters", "study", "wire"],
    },
  },
};

const tables: Package = {
  holds: "everything between files and an answer, callable: the command, Python, sources and pages are its callers",
  runs: "Node and browsers",
  imports: ["core", "files", "sql", "pictures"],
  rooms: {
    ".": {
      holds:
        "what a request for clusters may say, how its work is watched, numbers as people read them, words for a shell",
    },
    input: { holds: "files, tables at hand and sources become devices with the same columns", imports: ["."] },
    model: {
      holds: "model.json: centroids, sizes and means of clusters, labels, profiles; the same in lines for a terminal",
      imports: [".", "input"],
    },
    prepare: { holds: "scale, links and rows as a method takes them", imports: [".", "input", "model"] },
    verify: {
      holds: "whether a model is what its files and its options give",
      imports: [".", "input", "model", "prepare"],
    },
    fit: {
      holds: "fitTables: the method runs, and how sure, how different and how reliable its answer is",
      imports: [".", "input", "model", "prepare", "verify"],
    },
    choose: {
      holds: "chooseTables: k and alpha, and why a k is a candidate",
      imports: [".", "fit", "model", "prepare"],
    },
    predict: {
      holds: "predictTables: labels of later rows, also beside the rows of a source",
      imports: [".", "input", "model"],
    },
    inspect: {
      holds: "what a file holds, column by column, and the command line that follows from it",
      imports: [".", "input", "prepare"],
    },
    export: { holds: "exportModel: SQL, ONNX, scikit-learn, CSV", imports: [".", "model"] },
    report: {
      holds: "the report of a fit as one HTML page, all files of a fit, and the picture of a choice",
      imports: [".", "choose", "fit", "input", "model"],
    },
  },
};

const experiments: Package = {
  holds: "the paper's figures, its follow-up's studies and the comparison of methods, from nothing but a seed",
  runs: "Node",
  imports: ["core", "files", "pictures", "audit"],
  rooms: {
    ".": { holds: "cells of a study, how rows are dealt to devices, tables as CSV, statistics of runs" },
    studies: { holds: "sweep files: checked, as cells, as pictures; the studies themselves are files", imports: ["."] },
    plugins: { holds: "the user's own methods, data sets, graphs and measures, also in Python", imports: ["."] },
    compare: {
      holds:
        "all methods on the same data, network, start and budget; quality against bytes; what was found, in lines and as a page",
      imports: [".", "plugins", "trial"],
    },
    trial: { holds: "a cell becomes a row, in a pool of processes, with a journal", imports: [".", "plugins"] },
    picture: { holds: "series of points as curves, dots and tables, drawn from the CSV", imports: [".", "studies"] },
    results: {
      holds: "means, claims, agreement with the paper, the report of a study",
      imports: [".", "picture", "studies"],
    },
  },
};

const web: Package = {
  holds: "article, playground, documentation and dashboard as static files, and the server of the dashboard",
  runs: "browsers; the server in Node",
  imports: ["core", "files", "pictures", "tables"],
  rooms: {
    ".": { holds: "colours and styles of all pages" },
    engine: {
      holds:
        "setups of the playground and which runs of others they can show, their runs, and what the article's figures show, in two workers",
    },
    article: { holds: "the page that explains: one file for each figure", imports: [".", "engine"] },
    playground: { holds: "the page: controls, stops, panels, network map and curves", imports: [".", "engine"] },
    dashboard: { holds: "the other page, which shows snapshots of devices", imports: ["."] },
    server: { holds: "the dashboard over HTTP: who is answered, sessions, static files", imports: [ROOF] },
  },
};

const cli: Package = {
  holds: "the fedkm command: flags, words, progress, exit codes",
  runs: "Node",
  imports: ["core", "files", "sql", "pictures", "tables", "device", "audit", "experiments", "web"],
  rooms: {
    ".": {
      holds: "arguments, failures and remedies, progress, stopping, writing results all at once",
    },
    input: { holds: "the flags by which files and sources are read", imports: ["."] },
    commands: {
      holds: "one folder for each command: what may be asked, what it does, what it prints",
      imports: [".", "input"],
    },
  },
};

const lab: Package = {
  holds: "everything we measure: speed against peers, quality, faults, attacks, and the pictures of these pages",
  runs: "Node",
  imports: ["core", "files", "sql", "pictures", "device", "audit", "experiments", "web"],
  rooms: {
    ".": { holds: "how a section measures and prints" },
    lloyd: { holds: "k-means against scikit-learn and FAISS", imports: [".", "speed"] },
    readers: { holds: "files read, against pandas and DuckDB", imports: ["."] },
    analyst: { holds: "the analyst's whole job, against pandas and scikit-learn", imports: [".", "readers"] },
    engines: { holds: "real PostgreSQL and ClickHouse servers, for tests and measurements" },
    speed: {
      holds: "k-means, Algorithm 1, sources and very many devices, against their peers",
      imports: [".", "engines", "readers"],
    },
    quality: { holds: "how good answers are on data that nobody tuned on", imports: ["."] },
    rivals: { holds: "whether any setting of a method beats what compare gives it, on hostile data", imports: ["."] },
    differences: { holds: "what each difference from the paper changes", imports: ["."] },
    faults: { holds: "crashes, cuts, lies, full disks and months of change", imports: ["."] },
    audit: {
      holds: "attacks on devices and recordings, poison, differential privacy",
      imports: [".", "faults", "quality"],
    },
    private: { holds: "what differential privacy costs in many columns, against its peers", imports: ["."] },
    shared: { holds: "shared clusters: exactness, coalitions, costs", imports: [".", "faults", "quality"] },
    integrity: {
      holds: "members that forge results of shared clusters, folders that are old copies, frames of rubbish",
      imports: [".", "faults", "shared"],
    },
    mutants: { holds: "errors planted by name and by chance, and the tests that should notice them", imports: ["."] },
    pictures: { holds: "pictures and screens of the documentation", imports: ["."] },
  },
};

/** From the bottom up. Nobody imports `cli` or `lab`. */
export const packages: Readonly<Record<string, Package>> = {
  core,
  files,
  sql: {
    holds: "rows that stay in Parquet, DuckDB, PostgreSQL or ClickHouse, and answer (E1) from there",
    runs: "Node",
    imports: ["core"],
  },
  pictures: {
    holds:
      "palette, line styles, network drawing, HTML pages, axes, numbers as labels, columns of text, principal components, PNG, PDF",
    runs: "Node and browsers",
    imports: ["core"],
  },
  tables,
  device,
  audit: {
    holds:
      "attacks on devices and recordings, a judge who knows the rows, and a device's evidence; production devices do not carry it",
    runs: "Node",
    imports: ["core", "files", "pictures", "device"],
  },
  experiments,
  web,
  cli,
  lab,
};
