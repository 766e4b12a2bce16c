// The public API of @fedkm/experiments, one line per file.

export { aggregate, aggregateColumns } from "./aggregate.ts";
export { agreementColumns, compareWithStudy } from "./agreement.ts";
export { batches } from "./cell.ts";
export { claimColumns, judgeClaims } from "./claims.ts";
export { runBatches } from "./pool.ts";
export { figureCells, paperSizes } from "./studies/figures.ts";
export { parseCsv, toCsv } from "./table.ts";
export { runColumns } from "./trial.ts";
