// fedkm inspect of a source: its columns and their ranges, from one query over all rows.

import type { describeSource } from "@fedkm/sql";
import type { Console } from "../../console.ts";
import { count, significant } from "../../numbers.ts";
import { alignColumns } from "../../table.ts";

export async function inspectSource(address: string, json: boolean, io: Console): Promise<void> {
  const sql = await import("@fedkm/sql");
  const { engine, rows, columns } = await sql.describeSource(address, { env: io.env });
  if (json) {
    io.stdout.write(`${JSON.stringify({ source: address, engine, rows, columns: columns.map(flat) }, undefined, 2)}\n`);
    return;
  }
  const cells = columns.map(({ name, type, seen }) => {
    if (seen === undefined) return [name, type, "", "", "", "not a number: leave it out with --exclude"];
    const { least, most, missing, infinite } = seen;
    const remark = infinite > 0 ? `infinite in ${count(infinite)} rows` : least === most ? "always the same" : "";
    return [name, type, significant(least, 4), significant(most, 4), count(missing), remark];
  });
  const counted = rows === undefined ? "no column of numbers" : `${count(rows)} ${rows === 1 ? "row" : "rows"}`;
  const title = `${address}: ${engine}, ${counted}, ${columns.length} ${columns.length === 1 ? "column" : "columns"}`;
  const table = alignColumns([["column", "type", "least", "most", "missing", ""], ...cells]);
  io.stdout.write(`${[title, "", ...table].join("\n")}\n`);
}

function flat({ seen, ...column }: Awaited<ReturnType<typeof describeSource>>["columns"][number]) {
  return { ...column, ...seen };
}
