// What a careful colleague would say about the columns before clustering them.

import { profileColumns, type Table } from "@fedkm/files";

export function columnWarnings(tables: readonly Table[]): string[] {
  const profiles = tables.map(profileColumns);
  return tables[0].columns.flatMap((name, c) => {
    const own = profiles.map((columns) => columns[c]);
    const quoted = JSON.stringify(name);
    const [{ range, copyOf }] = own;
    if (own.every((column) => column.isConstant && column.range?.least === range?.least)) {
      return [`column ${quoted} is ${range?.least} in every row and says nothing; leave it out with --exclude`];
    }
    if (own.every(({ countsRows }) => countsRows)) {
      return [`column ${quoted} counts the rows and will be clustered like a measurement; leave it out with --exclude`];
    }
    if (copyOf !== undefined && own.every((column) => column.copyOf === copyOf)) {
      return [
        `column ${quoted} repeats ${JSON.stringify(copyOf)}, which then counts twice; leave one out with --exclude`,
      ];
    }
    return [];
  });
}
