// Command lines whose output is recorded: one entry each, on the example files and on small files made here.

export interface RecordedCommands {
  readonly name: string;
  /** Run one after the other in one folder that holds `examples/` and `data/`. */
  readonly lines: readonly (readonly string[])[];
}

const words = (line: string) => Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain);
const recorded = (name: string, ...lines: string[]): RecordedCommands => ({ name, lines: lines.map(words) });

const plants = "examples/north.csv examples/south.csv --exclude plant";
const six = "data/a.csv data/b.csv data/c.csv data/d.csv data/e.csv data/f.csv";
/** Of the method and what it prints; what fit decides by itself has lines of its own. */
const fitted = (name: string, rest: string) => recorded(name, `fit ${rest} --as-is --out results`);

export const commands: readonly RecordedCommands[] = [
  fitted("fit", `${plants} --k 3`),
  fitted("fit-json", `${plants} --k 3 --json --labels-as none`),
  fitted("fit-one-cluster", `${plants} --k 1`),
  fitted("fit-alone", `${plants} --k 3 --alpha 0`),
  fitted("fit-strong", `${six} --k 3 --alpha 10`),
  fitted("fit-ring", `${six} --k 3 --graph ring`),
  fitted("fit-random-graph", `${six} --k 4 --graph er:0.5 --seed 3`),
  fitted("fit-nearest-graph", `${six} --k 3 --graph knn:2`),
  fitted("fit-links-file", `${six} --k 3 --graph data/links.csv`),
  fitted("fit-standard", `${plants} --k 3 --scale standard`),
  fitted("fit-robust", `${plants} --k 3 --scale robust`),
  fitted("fit-minmax", `${plants} --k 3 --scale minmax`),
  fitted("fit-rank", `${plants} --k 3 --scale rank`),
  fitted("fit-log", `${plants} --k 3 --scale log:height_cm,stem_g`),
  fitted("fit-paper", `${plants} --k 3 --preset paper`),
  fitted("fit-device-weighting", `${six} --k 3 --weighting device`),
  fitted("fit-transport", `${six} --k 3 --coupling transport`),
  fitted("fit-norm", `${six} --k 3 --penalty norm --graph ring`),
  fitted("fit-truncated", `${six} --k 3 --penalty truncated --graph ring`),
  fitted("fit-simultaneous", `${six} --k 3 --schedule simultaneous`),
  fitted("fit-coloured", `${six} --k 3 --schedule coloured --graph ring`),
  fitted("fit-few-rounds", `${six} --k 3 --rounds 3`),
  fitted("fit-tolerance", `${six} --k 3 --tol 1e-3`),
  fitted("fit-local-start", `${six} --k 3 --init local`),
  fitted("fit-federated-start", `${six} --k 3 --init federated`),
  fitted("fit-classic-start", `${six} --k 3 --init 'classic kmeans++' --seed 5`),
  fitted("fit-guarded", `${six} --k 3 --privacy guarded --min-rows 5`),
  fitted("fit-consensus", `${six} --k 3 --method consensus`),
  fitted("fit-local", `${six} --k 3 --method local`),
  fitted("fit-pooled", `${six} --k 3 --method pooled`),
  fitted("fit-distributed", `${six} --k 3 --method distributed --graph ring`),
  fitted("fit-kfed", `${six} --k 3 --method kfed`),
  fitted("fit-shared", `${six} --k 3 --method shared`),
  fitted("fit-names", `${plants} --k 3 --names short,wide,tall`),
  fitted("fit-columns", `examples/north.csv examples/south.csv --columns height_cm,leaf_mm --k 2`),
  fitted("fit-sample", `${plants} --k 3 --sample 60`),
  fitted("fit-device-column", `data/one.csv --device-column ward --k 2`),
  fitted("fit-categories", `examples/trees.csv --categories auto --k 2 --scale standard`),
  fitted("fit-missing-drop", `data/gaps.csv data/a.csv --missing drop --k 3`),
  fitted("fit-missing-mean", `data/gaps.csv data/a.csv --missing mean --k 3`),
  fitted("fit-decimal-comma", `data/comma.csv --decimal comma --k 2`),
  fitted("fit-dates", `data/dates.csv --dates days --k 2`),
  fitted("fit-jsonl", `data/rows.jsonl data/a.csv --k 3`),
  fitted("fit-distances", `${plants} --k 3 --distances --labels-as jsonl`),
  fitted("fit-threads", `${six} --k 3 --threads 1`),
  fitted("fit-study", `${six} --study data/study.yaml`),
  fitted("fit-memory", "duckdb:examples/north.csv duckdb:examples/south.csv --exclude plant --k 3 --read memory"),
  fitted("fit-stream", "duckdb:examples/north.csv duckdb:examples/south.csv --exclude plant --k 3 --read stream"),
  fitted("fit-aggregate", "duckdb:examples/north.csv duckdb:examples/south.csv --exclude plant --k 3 --read aggregate"),
  fitted("fit-where", "'duckdb:examples/north.csv' --exclude plant --k 2 --read memory --where 'height_cm > 40'"),
  recorded(
    "fit-plugin",
    "fit data/a.csv data/b.csv --plugin examples/plugin.ts --method gossip --k 3 --out results --as-is",
  ),
  recorded(
    "fit-proposed",
    "fit examples/north.csv examples/south.csv --out results",
    "fit examples/trees.csv --k 2 --json --out results",
  ),
  recorded("choose", `choose ${plants} --as-is`),
  recorded("choose-json", `choose ${six} --k 5 --as-is --json`),
  recorded("choose-all", `choose ${six} --judge all --graph ring --as-is`),
  recorded(
    "predict",
    `fit ${plants} --k 3 --out results --as-is`,
    "predict --model results/model.json --device north examples/south.csv --out labelled.csv",
    "predict --model results/model.json --device common examples/south.csv --distances",
    "predict --model results/model.json examples/north.csv --json",
  ),
  recorded(
    "verify",
    `fit ${plants} --k 3 --scale standard --out results --as-is`,
    "verify results/model.json examples/north.csv examples/south.csv",
    "verify results/model.json examples/north.csv examples/south.csv --json",
    "verify results/model.json examples/south.csv examples/north.csv",
  ),
  recorded(
    "export",
    `fit ${plants} --k 3 --scale standard --out results --as-is`,
    "export results/model.json --as sql:postgres --name plants",
    "export results/model.json --as sql:duckdb --device north",
    "export results/model.json --as onnx --out model.onnx",
    "export results/model.json --as sklearn",
    "export results/model.json --as csv",
    "export results/model.json --as onnx",
  ),
  recorded(
    "export-categories",
    "fit examples/trees.csv --categories auto --k 2 --out results --as-is",
    "export results/model.json --as sql",
  ),
  recorded("inspect", "inspect examples/north.csv examples/south.csv"),
  recorded("inspect-json", "inspect data/gaps.csv --json"),
  recorded("inspect-trees", "inspect examples/trees.csv"),
  recorded("inspect-source", "inspect duckdb:examples/north.csv"),
  recorded("compare", "compare --method fedkm,consensus,distributed,local,pooled --typical-rows 50 --json"),
  recorded("compare-files", `compare ${plants} --k 3 --method fedkm,kfed,fkm,coreset --json`),
  recorded(
    "compare-split",
    "compare --dataset iris --split dirichlet:0.5 --devices 5 --method fedkm,local,backbone,gradient --json",
  ),
  recorded("study", "study init --k 4 --feature temperature:-40:60:°C humidity:0:100:%", "study check study.yaml"),
  recorded("study-data", "study init --k 3 --data data/a.csv", "study check study.yaml --data data/b.csv --json"),
  recorded("refuse-large-k", "fit data/single.csv --k 7 --as-is"),
  recorded("refuse-empty", "fit data/empty.csv --k 2 --as-is"),
  recorded("refuse-nan", "fit data/nan.csv --k 2 --as-is"),
  recorded("refuse-text", "fit examples/north.csv --k 2 --as-is"),
  recorded("refuse-gaps", "fit data/gaps.csv --k 2 --as-is"),
  recorded("refuse-method", `fit ${plants} --k 3 --method fedk --as-is`),
  recorded("refuse-option", `fit ${plants} --k 3 --method local --coupling transport --as-is`),
  recorded("refuse-file", "fit nowhere.csv --k 3"),
  recorded("refuse-flag", "fit examples/north.csv --kk 3"),
];

/** Small files of six unequal devices and of what files have: gaps, decimal commas, dates, words, nothing at all. */
export function dataFiles(): Record<string, string> {
  let state = 12345;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const noise = () => Math.round(1000 * (random() + random() + random() + random() - 2)) / 1000;
  const centres = [
    [0, 0, 5],
    [6, 1, 0],
    [2, 7, 1],
  ];
  const row = (cluster: number) => centres[cluster].map((x) => (x + noise()).toFixed(3));
  const device = (rows: number, clusters: readonly number[]) =>
    Array.from({ length: rows }, (_, r) => row(clusters[r % clusters.length]));
  const csv = (head: string, rows: readonly (readonly string[])[]) =>
    `${[head, ...rows.map((r) => r.join())].join("\n")}\n`;
  const head = "x,y,z";
  const a = device(40, [0, 1, 2]);
  return {
    "a.csv": csv(head, a),
    "b.csv": csv(head, device(25, [0, 1])),
    "c.csv": csv(head, device(60, [1, 2])),
    "d.csv": csv(head, device(12, [2])),
    "e.csv": csv(head, device(33, [0, 2, 2])),
    "f.csv": csv(head, device(50, [0, 1, 2, 0])),
    "links.csv": "from,to,weight\na,b,1\nb,c,2\nc,d,1\nd,e,0.5\ne,f,1\n",
    "gaps.csv": csv(
      head,
      device(20, [0, 1, 2]).map((r, i) => (i % 6 === 2 ? [r[0], "", r[2]] : r)),
    ),
    "one.csv": csv(
      "ward,x,y",
      device(30, [0, 1]).map(([x, y], i) => [["east", "west", "north"][i % 3], x, y]),
    ),
    "comma.csv": `x;y\n${device(20, [0, 1])
      .map(([x, y]) => `${x.replace(".", ",")};${y.replace(".", ",")}`)
      .join("\n")}\n`,
    "dates.csv": csv(
      "day,x",
      device(20, [0, 1]).map(([x], i) => [`2026-0${1 + (i % 2) * 5}-1${i % 10}`, x]),
    ),
    "rows.jsonl": `${device(20, [0, 1, 2])
      .map(([x, y, z]) => `{"x":${Number(x)},"y":${Number(y)},"z":${Number(z)}}`)
      .join("\n")}\n`,
    "single.csv": csv(head, a.slice(0, 1)),
    "empty.csv": "",
    "nan.csv": csv(head, [...a.slice(0, 3), ["1", "NaN", "2"]]),
    "study.yaml": `name: six\nk: 3\nalpha: 1\nprivacy: open\nfeatures:\n${["x", "y", "z"].map((name) => `  - { name: ${name}, min: -10, max: 20 }`).join("\n")}\n`,
  };
}
