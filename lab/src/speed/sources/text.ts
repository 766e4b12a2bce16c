// fedkm fit of CSV files as sources that are streamed, against fedkm fit of the same files loaded: whole processes.

import { join } from "node:path";
import { runFedkm } from "../../command.ts";
import { print, progress, ratio } from "../../measure.ts";
import { writeRows } from "../../readers/rows.ts";

const [FILES, COLS, K] = [10, 16, 8];
/** Centres that overlap: loaded rows still move after these rounds. Rounds of a stream are on samples and near borders. */
const [SPACING, ROUNDS] = [1, 30];

export function text(isQuick: boolean, folder: string): void {
  const rows = isQuick ? 100_000 : 1_000_000;
  const files = Array.from({ length: FILES }, (_, i) => {
    progress(`sources: writing ${rows} rows, file ${i + 1} of ${FILES}`);
    writeRows(join(folder, `place${i}.csv`), rows, COLS, 20 + i, SPACING);
    return `place${i}.csv`;
  });
  const sources = files.map((file) => `duckdb:${file}`);
  const asked = ["--k", String(K), "--no-labels", "--json"];
  const table = [["rounds, at most", "loaded", "streamed", "ratio", "gate", "objective, streamed / loaded", "settled"]];
  for (const [name, ...rounds] of [["default"], [String(ROUNDS), "--rounds", String(ROUNDS)]]) {
    const loaded = runFedkm(folder, "fit", ...files, ...asked, ...rounds);
    const streamed = runFedkm(folder, "fit", ...sources, ...asked, ...rounds, "--way", "stream");
    const [known, found] = [loaded, streamed].map(({ stdout }) => JSON.parse(stdout));
    const settled = [known, found].map(({ converged }) => (converged ? "yes" : "no"));
    table.push([
      ...[name, loaded.seconds.toFixed(1), streamed.seconds.toFixed(1), ratio(streamed.seconds, loaded.seconds)],
      ...["1", (found.objective / known.objective).toPrecision(6), `loaded ${settled[0]}, streamed ${settled[1]}`],
    ]);
  }
  progress("");
  print(`fedkm fit of ${FILES} CSV files of ${rows} x ${COLS}, k = ${K}, CPU s of the process`, table);
}
