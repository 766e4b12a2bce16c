// What fedkm export can write.

export const formats = ["sql", "onnx", "pmml", "sklearn", "csv"] as const;
export const dialectNames = ["duckdb", "postgres", "clickhouse", "trino", "spark", "standard"] as const;

export type DialectName = (typeof dialectNames)[number];

export interface ExportOptions {
  readonly as: (typeof formats)[number];
  readonly dialect?: DialectName;
  readonly table?: string;
  readonly place?: string;
  readonly out?: string;
}
