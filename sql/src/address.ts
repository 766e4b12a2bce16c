// Addresses of sources: duckdb:PATH, sqlite:FILE?table=NAME, postgres://USER@HOST/DATABASE?table=NAME, clickhouse://HOST/DATABASE/TABLE.

import { resolve } from "node:path";
import { SourceError } from "./driver.ts";

/** The parts of a source's address. */
export interface Address {
  readonly scheme: "duckdb" | "sqlite" | "postgres" | "clickhouse";
  readonly host: string;
  readonly port?: number | undefined;
  readonly user: string;
  /** Of DuckDB and SQLite the path, else the database. */
  readonly database: string;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  /** TLS: undefined where nothing is said. */
  readonly tls?: boolean | undefined;
  /** Where the password is: a variable of the environment, or a file. */
  readonly passwordEnv?: string | undefined;
  readonly passwordFile?: string | undefined;
  /** A file of certificates to trust. */
  readonly certificates?: string | undefined;
  /** How (E1) is answered: undefined where nothing is said. */
  readonly read: ReadMode | undefined;
  /** How a device sees that rows have changed: by the largest value of a column, or after so many seconds. */
  readonly watermark: string | undefined;
  readonly every: number | undefined;
}

const SCHEME = /^(duckdb|sqlite|postgres|postgresql|clickhouse):/;

/** Engines whose SQL we can write, and that no driver of ours asks, with their dialects. */
const WITHOUT_DRIVER = /^(trino|spark):/;

/** Whether a text names a source, and not a file. */
export function isAddress(text: string): boolean {
  return SCHEME.test(text) || WITHOUT_DRIVER.test(text);
}

/** memory: rows are loaded once. stream: rows pass through the kernel. aggregate: the engine aggregates. */
export type ReadMode = "memory" | "stream" | "aggregate";

const READ_MODES: readonly string[] = ["memory", "stream", "aggregate"] satisfies ReadMode[];

const OPTIONS = "table schema tls password-env password-file certificates read watermark every".split(" ");

/** The same with the whole path of a file, for whoever reads it in another folder. */
export function absoluteAddress(text: string): string {
  const address = parseAddress(text);
  const { scheme } = address;
  if (scheme !== "duckdb" && scheme !== "sqlite") return text;
  return `${scheme}:${resolve(address.database)}${text.slice(scheme.length + 1 + address.database.length)}`;
}

/** Never repeats what was typed: there may be a password in it. */
export function parseAddress(text: string): Address {
  const [, engine] = WITHOUT_DRIVER.exec(text) ?? [];
  if (engine !== undefined) {
    const others = `read its Parquet files with duckdb:FOLDER, and label its table with the SELECT of fedkm export MODEL --as sql:${engine}`;
    throw new SourceError(`${engine}: there is no driver here that asks this engine: ${others}`);
  }
  const [, scheme] = SCHEME.exec(text) ?? [];
  if (scheme === undefined)
    throw new SourceError("a source must begin with duckdb:, sqlite:, postgres:// or clickhouse://");
  if (scheme === "duckdb" || scheme === "sqlite") return fileAddress(scheme, text.slice(scheme.length + 1));
  let url: URL;
  try {
    url = new URL(text.replace(SCHEME, "http:"));
  } catch {
    throw new SourceError(`${scheme}: an address must be like ${EXAMPLES[scheme]}`);
  }
  // With other schemes than its own a URL lets anything be a host.
  if (!/^(\[[0-9a-f:.]+\]|[\w.-]*)$/i.test(url.hostname)) {
    throw new SourceError(`${scheme}: a host must be a name or a number, got another text`);
  }
  if (url.password !== "") {
    const rule = `a password must not stand in an address, where others can read it: put it into ${PASSWORD_VARIABLES[scheme]}, or into a file of mode 600 and its name behind ?password-file=`;
    throw new SourceError(`${scheme}://${url.host}: ${rule}`);
  }
  const options = optionsOf(url.searchParams, scheme);
  const [database = "", ...further] = url.pathname.slice(1).split("/").map(decodeURIComponent);
  const [table, schema] = tableOf(options, further, scheme);
  return {
    scheme: scheme === "clickhouse" ? "clickhouse" : "postgres",
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? undefined : Number(url.port),
    user: decodeURIComponent(url.username),
    database,
    schema,
    table,
    tls: yesOrNo(options.tls),
    passwordEnv: options["password-env"],
    passwordFile: options["password-file"],
    certificates: options.certificates,
    ...readingOf(options),
  };
}

function readingOf({ read, watermark, every }: Record<string, string | undefined>) {
  if (read !== undefined && !READ_MODES.includes(read)) {
    throw new SourceError(`read must be ${READ_MODES.join(", ")}, got ${JSON.stringify(read)}`);
  }
  if (every !== undefined && !/^[1-9]\d{0,8}$/.test(every)) {
    throw new SourceError(`every must be a whole number of seconds from 1, got ${JSON.stringify(every)}`);
  }
  return { read: read as ReadMode | undefined, watermark, every: every === undefined ? undefined : Number(every) };
}

const EXAMPLES: Record<string, string> = {
  postgres: "postgres://reader@host/database?table=visits",
  postgresql: "postgres://reader@host/database?table=visits",
  clickhouse: "clickhouse://reader@host/database/visits",
};

/** Variables of the environment in which drivers look for a password. */
export const PASSWORD_VARIABLES: Record<string, string> = {
  postgres: "PGPASSWORD",
  postgresql: "PGPASSWORD",
  clickhouse: "CLICKHOUSE_PASSWORD",
};

function optionsOf(params: URLSearchParams, scheme: string): Record<string, string | undefined> {
  const unknown = [...params.keys()].find((name) => !OPTIONS.includes(name));
  // Only the name: its value may be a password.
  if (unknown !== undefined) {
    throw new SourceError(`${scheme}: an address takes ${OPTIONS.join(", ")}, got ${JSON.stringify(unknown)}`);
  }
  return Object.fromEntries(params);
}

/** `schema.table` is two names unless the schema is given as well. */
function tableOf(
  options: Record<string, string | undefined>,
  path: readonly string[],
  scheme: string,
): [string | undefined, string | undefined] {
  const given = options.table ?? (path.length > 0 ? path.join("/") : undefined);
  if (given === undefined || options.schema !== undefined || scheme === "clickhouse") return [given, options.schema];
  const dot = given.indexOf(".");
  return dot < 0 ? [given, undefined] : [given.slice(dot + 1), given.slice(0, dot)];
}

function yesOrNo(text: string | undefined): boolean | undefined {
  if (text === undefined || text === "yes" || text === "no") return text && text === "yes";
  throw new SourceError(`tls must be yes or no, got ${JSON.stringify(text)}`);
}

/** A question mark is also a pattern for one letter: options begin at one that is followed by a name that is known. */
function fileAddress(scheme: "duckdb" | "sqlite", text: string): Address {
  const [, path, query = ""] = /^(.*?)(?:\?((?:table|schema|read|watermark|every)=.*))?$/s.exec(
    text,
  ) as unknown as string[];
  const what = scheme === "duckdb" ? "a file, a folder or a pattern of files" : "a file";
  if (path === "") throw new SourceError(`${scheme}: must be followed by ${what}`);
  const options = optionsOf(new URLSearchParams(query), scheme);
  const [table, schema] = tableOf(options, [], scheme);
  return { scheme, host: "", user: "", database: path, schema, table, ...readingOf(options) };
}
