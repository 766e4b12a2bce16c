// One measured read in a process of its own: node job.js ours|duckdb FILE TIMES prints CPU seconds and peak bytes.

import { readTable } from "@fedkm/files";
import { peakMemory } from "../measure.ts";
import { connect } from "./duckdb.ts";

const [who, file, times] = process.argv.slice(2);

const readers: Record<string, () => Promise<() => Promise<unknown>>> = {
  ours: async () => () => readTable(file),
  duckdb: async () => {
    const connection = await connect();
    const source = file.endsWith(".csv") ? `read_csv('${file}')` : `'${file}'`;
    return () => connection.run(`create or replace table t as select * from ${source}`);
  },
};

const read = await readers[who]();
let seconds = Number.POSITIVE_INFINITY;
let memory = 0;
for (let t = 0; t < Number(times); t++) {
  const before = process.cpuUsage();
  await read();
  const { user, system } = process.cpuUsage(before);
  seconds = Math.min(seconds, (user + system) / 1e6);
  // Of the first read: later ones may find the earlier result not yet collected.
  if (t === 0) memory = peakMemory();
}
console.log(JSON.stringify({ seconds, memory }));
