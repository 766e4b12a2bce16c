// The formats of exported models, and whose SQL can be written.

export const formats = ["sql", "onnx", "sklearn", "csv"] as const;
export const dialectNames = ["duckdb", "postgres", "clickhouse", "trino", "spark", "standard"] as const;

export type DialectName = (typeof dialectNames)[number];
