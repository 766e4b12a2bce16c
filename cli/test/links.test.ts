// Who is linked with whom: rules and files, and strangers by their names.

import { edges, matrix } from "@fedkm/core";
import { linkDevices } from "@fedkm/tables";
import { expect, test } from "vitest";
import { linksOfFlag } from "../src/input/reading.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const names = ["north", "south", "coast & isles", "4"];
const datasets = [0, 1, 5, 6].map((x) => matrix([[x], [x + 0.5]]));
const linked = async (spec: string) =>
  Array.from(
    edges(await linkDevices(linksOfFlag(spec), names, datasets, { seed: 1 })),
    ([i, j, weight]) => `${i}-${j}:${weight}`,
  ).sort();

test.each([
  ["complete", ["0-1:1", "0-2:1", "0-3:1", "1-2:1", "1-3:1", "2-3:1"]],
  ["ring", ["0-1:1", "0-3:1", "1-2:1", "2-3:1"]],
  ["er:0", []],
  ["er:1", ["0-1:1", "0-2:1", "0-3:1", "1-2:1", "1-3:1", "2-3:1"]],
  ["knn:1", ["0-1:1", "2-3:1"]],
  ["knn:2", ["0-1:1", "0-2:1", "1-2:1", "1-3:1", "2-3:1"]],
])("--graph %s", async (spec, expected) => {
  expect(await linked(spec)).toEqual(expected);
});

test("rings of one and two devices are what they can be", async () => {
  expect(Array.from(edges(await linkDevices("ring", ["a", "b"], datasets.slice(0, 2), { seed: 1 })))).toHaveLength(1);
  expect(Array.from(edges(await linkDevices("ring", ["a"], datasets.slice(0, 1), { seed: 1 })))).toHaveLength(0);
});

const graphml = `<?xml version="1.0"?>
<!-- made by hand -->
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d1" for="node" attr.name="label" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="n0"><data key="d1">north</data></node>
    <node id="south"/>
    <node id="n2"><data key="d1">coast &amp; isles</data></node>
    <edge source="n0" target="south"><data key="d0">2.5</data></edge>
    <edge source='n2' target="n0"/>
  </graph>
</graphml>`;

test.each([
  ["edges.csv", 'source,target,weight\nnorth,south,2.5\n"coast & isles",north,\n'],
  ["edges.tsv", "north\tsouth\t2.5\r\nnorth\tcoast & isles\r\n"],
  ["edges.graphml", graphml],
  ["edges.json", '[["north", "south", 2.5], ["coast & isles", "north"]]'],
  ["object.json", '{"edges": [["north", "south", 2.5], ["coast & isles", "north"]]}'],
  [
    "links.json",
    '{"nodes": [], "links": [{"source": "north", "target": "south", "weight": 2.5}, {"source": "north", "target": "coast & isles"}]}',
  ],
])("links from %s", async (name, text) => {
  expect(await linked(folder.file(name, text))).toEqual(["0-1:2.5", "0-2:1"]);
});

test("numbers are names too", async () => {
  expect(await linked(folder.file("number.json", '[[4, "north"]]'))).toEqual(["0-3:1"]);
});

test.each([
  [
    "stranger.csv",
    "north,west\n",
    /line 1 must name devices of the input, got "west"; the devices are north, south, coast & isles, 4$/,
  ],
  [
    "stranger.graphml",
    graphml.replace('"south"/>', '"east"/>').replace('target="south"', 'target="east"'),
    /line 10 must name devices of the input, got "east"/,
  ],
  ["stranger.json", '[["north", "east"]]', /must name devices of the input, got "east"/],
  ["strangers.csv", "E2,E3,2\nnorth,south,1\n", /line 1 must name devices of the input, got "E2"/],
  ["self.csv", "north,north\n", /line 1 must link two devices, got "north" with itself; remove the link/],
  [
    "twice.csv",
    "north,south\nsouth,north\n",
    /line 2 must name each link once, got "south" and "north" again; remove one/,
  ],
  ["weight.csv", "north,south,-1\n", /line 1 must have a weight above 0, got "-1"/],
  ["cells.csv", "north\n", /line 1 must be two device names and perhaps a weight, got 1 cells/],
  ["entity.graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', /must have no document type/],
  ["edge.graphml", '<graphml><edge source="north"/></graphml>', /must be an edge with source and target/],
  ["bad.json", "[", /must be JSON/],
  ["shape.json", '{"a": 1}', /must be a list of links, or an object with "edges" or "links", got neither/],
  ["pair.json", '[["north"]]', /must hold links between two names, got \["north"\] as link 1/],
])("%s is refused", async (name, text, refusal) => {
  const file = folder.file(name, text);
  await expect(linked(file)).rejects.toThrow(refusal);
  await expect(linked(file)).rejects.toThrow(file);
});
