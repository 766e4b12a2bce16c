// Every model, whoever made it, can be saved, loaded, labelled with, certified and continued: five producers, five uses.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  certify,
  complete,
  fit as fitNetwork,
  type Graph,
  graph,
  kmeans,
  type Matrix,
  matrix,
  paperData,
  predict,
  toRows,
} from "@fedkm/core";
import { fitSources, memorySource } from "@fedkm/core/sources";
import { fitTables, parseModel } from "@fedkm/tables";
import { afterAll, describe, expect, it } from "vitest";
import { python } from "./conformance/doors.ts";

const { datasets } = paperData("iso", 3, 60, 4);
const folder = mkdtempSync(join(tmpdir(), "fedkm-models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Produced {
  readonly model: Parameters<typeof predict>[0] & { readonly options?: object | undefined; readonly version?: number };
  readonly rows: readonly Matrix[];
  readonly links: Graph;
}

const options = { k: 3, alpha: 0.5, seed: 7 } as const;
const names = ["north", "south", "west"];

function pythonModel(): unknown {
  const file = join(folder, "python.json");
  const rows = join(folder, "rows.json");
  writeFileSync(rows, JSON.stringify(datasets.map(toRows)));
  const program = `
import json
import numpy
import fedkm
rows = [numpy.array(own) for own in json.load(open(${JSON.stringify(rows)}))]
fedkm.FedKMeans(3, alpha=0.5, random_state=7).fit(dict(zip(${JSON.stringify(names)}, rows))).save(${JSON.stringify(file)})
`;
  const command = `"${process.execPath}" "${new URL("../cli/bin/fedkm.js", import.meta.url).pathname}"`;
  const ran = spawnSync(python as string, ["-c", program], {
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: new URL("../python", import.meta.url).pathname, FEDKM_COMMAND: command },
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return parseModel(readFileSync(file, "utf8"));
}

async function commandModel(scale: string): Promise<unknown> {
  const tables = datasets.map((points, i) => ({ name: names[i], columns: ["x", "y"], points }));
  const { model } = await fitTables({ ...options, tables, scale, examine: false } as never);
  return parseModel(JSON.stringify(model));
}

const network = { rows: datasets, links: complete(3) };
const producers: Readonly<Record<string, () => Promise<Produced>>> = {
  fit: async () => ({ model: fitNetwork(datasets, complete(3), options), ...network }),
  kmeans: async () => ({
    model: kmeans(datasets[0], { k: 3, seed: 7 }),
    rows: datasets.slice(0, 1),
    links: graph(1, []),
  }),
  fitSources: async () => ({
    model: await fitSources(
      datasets.map((own) => memorySource(own)),
      complete(3),
      options,
    ),
    ...network,
  }),
  "the command": async () => ({ model: (await commandModel("standard")) as Produced["model"], ...network }),
  ...(python !== undefined && {
    python: async () => ({ model: pythonModel() as Produced["model"], ...network }),
  }),
};

describe.each(Object.keys(producers))("a model of %s", (name) => {
  const produced = producers[name]();
  const loaded = produced.then(({ model }) => JSON.parse(JSON.stringify(model)) as Produced["model"]);
  const labels = (model: Produced["model"], rows: readonly Matrix[]) =>
    rows.map((own, device) => predict(model, own, rows.length > 1 ? { device } : {}));

  it("says with what it was made, also when it is loaded", async () => {
    for (const own of [(await produced).model, await loaded]) {
      expect(own.version).toBe(1);
      expect(own.options).toMatchObject({ k: 3, alpha: name === "kmeans" ? 0 : 0.5, seed: 7 });
    }
  });

  it("labels rows, and the same when it is loaded", async () => {
    const { model, rows } = await produced;
    expect(labels(await loaded, rows)).toEqual(labels(model, rows));
    for (const own of labels(model, rows)) expect(new Set(own).size).toBe(3);
  });

  it("is certified by its own options: one more update does not move it", async () => {
    const { model, rows, links } = await produced;
    const certificate = certify(rows, links, await loaded);
    expect(certificate.relativeResidual).toBeLessThan(1e-6);
    expect(certify(rows, links, model)).toEqual(certificate);
  });

  it("is continued: a fit that begins with it, or kmeans, ends with its labels", async () => {
    const { model, rows } = await produced;
    const again = fitNetwork(datasets, complete(3), { ...options, init: (await loaded) as never });
    expect(again.converged).toBe(true);
    const [own] = labels(model, rows);
    if (rows.length === 1) {
      const { iterations, labels: ended } = kmeans(rows[0], { k: 3, init: await loaded });
      expect([iterations <= 2, ended]).toEqual([true, own]);
    } else expect(predict(again, rows[0], { device: 0 })).toEqual(own);
  });
});

it("models on scales that the library does not know, and files that are none, are refused in one line", async () => {
  const ranked = (await commandModel("rank")) as Produced["model"];
  expect(() => predict(ranked, matrix([[1, 2]]), { device: 0 })).toThrow("use predictTables of @fedkm/tables");
  expect(() => predict({ devices: [] } as never, matrix([[1, 2]]))).toThrow("as a model.json has them");
  const { model } = await producers.fit();
  expect(() => kmeans(datasets[0], { k: 3, init: model })).toThrow("the model of one device, got one of 3 devices");
});
