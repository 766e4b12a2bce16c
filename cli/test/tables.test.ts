// Tables as the public has them: text columns, missing cells, other delimiters. Each is read, or refused with a remedy that
// then works when it is followed to the letter.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();

/** A few rows of each, in the form in which they are published. */
const tables: readonly (readonly [name: string, text: string, remedies: readonly string[], columns: number])[] = [
  [
    "iris.data",
    "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n7.0,3.2,4.7,1.4,Iris-versicolor\n6.4,3.2,4.5,1.5,Iris-versicolor\n6.3,3.3,6.0,2.5,Iris-virginica\n5.8,2.7,5.1,1.9,Iris-virginica\n\n",
    ["--exclude column5"],
    4,
  ],
  [
    "iris-r.csv",
    '"","Sepal.Length","Sepal.Width","Petal.Length","Petal.Width","Species"\n"1",5.1,3.5,1.4,0.2,"setosa"\n"2",4.9,3,1.4,0.2,"setosa"\n"51",7,3.2,4.7,1.4,"versicolor"\n"101",6.3,3.3,6,2.5,"virginica"\n',
    ["--exclude Species"],
    5,
  ],
  [
    "iris-scikit.csv",
    "150,4,setosa,versicolor,virginica\n5.1,3.5,1.4,0.2,0\n4.9,3.0,1.4,0.2,0\n7.0,3.2,4.7,1.4,1\n",
    [],
    5,
  ],
  [
    "iris-spaced.csv",
    "sepal length (cm), sepal width (cm), the species, in Latin\n5.1, 3.5, 1, setosa\n4.9, 3.0, 2, setosa\n7.0, 3.2, 3, versicolor\n",
    ["--exclude 'in Latin'"],
    3,
  ],
  [
    "wine.data",
    "1,14.23,1.71,2.43,15.6,127,2.8,1065\n1,13.2,1.78,2.14,11.2,100,2.65,1050\n2,12.37,.94,1.36,10.6,88,1.98,520\n3,12.86,1.35,2.32,18,122,1.51,630\n",
    [],
    8,
  ],
  [
    "winequality-red.csv",
    '"fixed acidity";"volatile acidity";"citric acid";"quality"\n7.4;0.7;0;5\n7.8;0.88;0;5\n11.2;0.28;0.56;6\n7.4;0.66;0;5\n',
    [],
    4,
  ],
  [
    "breast-cancer.data",
    "1000025,5,1,1,2,2\n1002945,5,4,4,?,2\n1015425,3,1,1,2,2\n1016277,6,8,8,3,4\n1017023,4,1,1,3,?\n1017122,8,10,10,7,4\n",
    ["--missing drop"],
    6,
  ],
  [
    "penguins.csv",
    "species,island,bill_length_mm,bill_depth_mm,sex\nAdelie,Torgersen,39.1,18.7,male\nAdelie,Torgersen,NA,NA,NA\nGentoo,Biscoe,46.1,13.2,female\nGentoo,Biscoe,50,16.3,male\n",
    ["--exclude species,island,sex", "--missing drop"],
    2,
  ],
  [
    "titanic.tsv",
    'pclass\tname\tage\tfare\n1\t"Allen, Miss. Elisabeth"\t29\t211.3375\n1\t"Allison, ""Trevor"""\t0.9167\t151.55\n3\t"Zabour, Miss"\t\t14.4542\n',
    ["--exclude name", "--missing drop"],
    3,
  ],
  ["empty-last.csv", "a,b,\n1,2,\n3,4,\n5,6,\n", ["--exclude column3"], 2],
];

/** The arguments that a refusal offers first. */
function remedyIn(message: string): string | undefined {
  return /(--exclude (?:'[^']+'|[^\s,;]\S*?)|--missing \w+)(?=,? or |,? and |, choose |$|\n)/
    .exec(message)?.[1]
    .replace(/,$/, "");
}

test.each(tables)("%s", async (name, text, remedies, columns) => {
  const file = folder.file(name, text);
  const results = join(folder.path, `${name}-results`);
  const args = ["fit", "--as-is", file, "--k", "2", "--out", results];
  const followed: string[] = [];
  let { code, stderr } = await outcome(...args);
  while (code !== 0 && followed.length < 3) {
    expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 1, lines: 1 });
    const remedy = remedyIn(stderr);
    if (remedy === undefined) expect.fail(`no remedy in ${stderr}`);
    followed.push(remedy);
    const [option, value] = remedy.split(/ (.*)/);
    args.push(option, value.replaceAll("'", ""));
    ({ code, stderr } = await outcome(...args));
  }
  expect(followed).toEqual(remedies);
  expect(JSON.parse(readFileSync(join(results, "model.json"), "utf8")).columns).toHaveLength(columns);
  expect(readFileSync(join(results, "labels", name), "utf8").split("\n")).toHaveLength(text.split("\n").length);
});
