// From an address to a source: the engine is opened, the columns are chosen, and all rows are surveyed once.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Matrix } from "@fedkm/core";
import type { Source } from "@fedkm/core/sources";
import { type Address, PASSWORD_VARIABLES, parseAddress, type ReadMode } from "./address.ts";
import { openClickHouse } from "./clickhouse.ts";
import { duckdb } from "./dialects.ts";
import { SourceError } from "./driver.ts";
import { openDuckDB } from "./duckdb.ts";
import { gatherEngineRows, type SqlEngine } from "./engine.ts";
import { openPostgres } from "./postgres.ts";
import { loadedSqlSource, type SurveyedRows, sourceOn, type Watcher } from "./source.ts";
import { type Spool, spool } from "./spool.ts";
import { openSqlite } from "./sqlite.ts";
import { CLUSTER, labelStatement, type RowSelection, type SourceBounds } from "./statements.ts";
import {
  engineRows,
  type MissingRows,
  numericEngineColumns,
  type RowReader,
  type Survey,
  surveyOf,
  surveyWithin,
} from "./survey.ts";
import {
  type EncodedSourceColumn,
  encodedEngineColumns,
  ofDevice,
  type SourceDevice,
  type SourceWords,
  sourceSums,
  sourceWords,
  type WordsRequest,
} from "./words.ts";

/** Which rows and columns of a source are taken, and how they are read. */
export interface OpenOptions extends Watcher {
  /** The columns to take; all numeric ones without it. */
  readonly columns?: readonly string[] | undefined;
  /** Columns to leave out. */
  readonly exclude?: readonly string[] | undefined;
  /** A SELECT in the place of a table. */
  readonly query?: string | undefined;
  /** A condition in SQL. */
  readonly where?: string | undefined;
  /** Instead of columns: which there are, some of them categories. */
  readonly encoding?: readonly EncodedSourceColumn[] | undefined;
  /** For each column of numbers that the encoding gives: what takes the place of a missing one. */
  readonly fill?: readonly number[] | undefined;
  /** Only the rows of this device. */
  readonly device?: SourceDevice | undefined;
  /** Default "refuse". */
  readonly missing?: MissingRows | undefined;
  /** Default: files are loaded where they fit and streamed where they do not, and servers aggregate. */
  readonly read?: ReadMode | undefined;
  /** Seconds for a query. Default 3600. */
  readonly timeLimit?: number | undefined;
  /** Ends what the source is doing. */
  readonly signal?: AbortSignal | undefined;
  /** Where passwords may be. */
  readonly env: NodeJS.ProcessEnv;
}

/** An opened source, which answers (E1) about its rows until it is closed. */
export interface OpenSource extends Source {
  /** A short name, without user or host. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly read: ReadMode;
  /** Rows that were left out because a number is missing. */
  readonly dropped: number;
  /** The same rows with x as (x - offset) / scale, where they are not in memory. */
  scaled(scaling: ColumnScaling): Source;
  /** The rows within the bounds of each column on such a scale, and for each column how many rows of all are outside. */
  bounded(bounds: readonly SourceBounds[], scaling: ColumnScaling): Promise<BoundedSource>;
  /** Makes a table with all columns and the cluster of each row, of one device after the other. Centroids are on this scale. */
  labelInto(table: string, devices: readonly LabelledDevice[], scaling: ColumnScaling): Promise<void>;
  close(): Promise<void>;
}

/** Whose rows are labelled by which centroids; without a device all rows of the source. */
export interface LabelledDevice {
  readonly device?: SourceDevice | undefined;
  readonly centroids: Matrix;
}

/** A source with bounds, and the rows that are outside of them, by column. */
export interface BoundedSource {
  readonly source: Source;
  readonly outside: readonly number[];
}

/** What is subtracted from each column, and what it is divided by then. */
export interface ColumnScaling {
  readonly offset: readonly number[];
  readonly scale: readonly number[];
}

/** Numbers that are loaded rather than streamed: 0.8 GB, and as much again in the kernel. */
const FITS = 1e8;

/**
 * Opens rows that stay in Parquet, DuckDB, PostgreSQL or ClickHouse.
 * @example const source = await openSource("postgres://host/db?table=north", { read: "stream" });
 */
export async function openSource(text: string, options: OpenOptions): Promise<OpenSource> {
  const { query } = options;
  const address = parseAddress(text);
  const engine = await openEngine(address, options);
  try {
    const relation = askedRelation(address, engine, query);
    const read =
      options.read ?? address.read ?? (["duckdb", "sqlite"].includes(address.scheme) ? undefined : "aggregate");
    const isText = query === undefined && relation.startsWith(TEXT);
    return await engineSource(engine, { name: nameOf(address), relation, isText }, { ...options, read });
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** A table with its quoted name, or a query in brackets with a name, and what to call it. */
export interface Relation {
  readonly name: string;
  readonly relation: string;
  /** Whether rows are parsed from text each time that they are asked for. Then they are kept the first time. */
  readonly isText?: boolean;
}

type EngineOptions = Omit<OpenOptions, "env" | "query" | "timeLimit">;

/** Rows of an engine that is open, also of one with a driver of the caller's. */
export async function engineSource(
  engine: SqlEngine,
  { name, relation, isText = false }: Relation,
  options: EngineOptions,
): Promise<OpenSource> {
  const { columns, exclude, encoding, fill, device, signal } = options;
  const { dialect } = engine;
  const where = ofDevice(dialect, options.where, device);
  const all = await engine.columns(filtered(relation, options.where), signal);
  const chosen =
    encoding === undefined
      ? numericEngineColumns(all, { ...(columns && { columns }), ...(exclude && { exclude }) })
      : encodedEngineColumns(all, encoding, fill, dialect);
  const asked: RowSelection = { dialect, relation, columns: chosen, where, dropsMissing: false };
  const kept = isText && options.read !== "aggregate" ? await keepRows(engine, asked, options) : undefined;
  const close = async () => {
    await kept?.close();
    await engine.close();
  };
  try {
    const { read, ...source } = await surveyedSource(engine, kept ?? engineRows(engine), asked, options);
    // They have been copied.
    if (read === "memory") await kept?.close();
    const labelInto = async (table: string, devices: readonly LabelledDevice[], scaling: ColumnScaling) => {
      const names = all.map((column) => column.name);
      if (names.includes(CLUSTER)) {
        throw new SourceError(`the rows must not have a column "${CLUSTER}" yet: leave it out in a view or a --query`);
      }
      const selects = devices.map(({ device: own, centroids }) =>
        labelStatement({ ...scaled(asked, scaling), where: ofDevice(dialect, where, own) }, names, centroids),
      );
      await engine.write(dialect.tableOf(table, selects.join("\nUNION ALL ")), signal);
    };
    return { ...source, name, columns: chosen.map((column) => column.name), read, labelInto, close };
  } catch (error) {
    await kept?.close();
    throw error;
  }
}

/** One pass over text, for whatever will be asked. */
function keepRows(
  engine: SqlEngine,
  asked: RowSelection,
  { read, onRows = () => {}, signal }: EngineOptions,
): Promise<Spool> {
  const columns = asked.columns.map((column) => ({ ...column, isNullable: true }));
  const mostInMemory = read === "memory" ? Number.POSITIVE_INFINITY : read === "stream" ? 0 : FITS;
  return spool(engineRows(engine).blocks({ ...asked, columns }, signal, true), columns.length, mostInMemory, onRows);
}

async function surveyedSource(engine: SqlEngine, rows: RowReader, asked: RowSelection, options: EngineOptions) {
  const { missing = "refuse", signal } = options;
  const { survey, selected } = await surveyOf(rows, asked, missing, signal);
  const read = options.read ?? (survey.rows * asked.columns.length <= FITS ? "memory" : "stream");
  const all: SurveyedRows = { engine, rows, selected, survey };
  const staying = (scaling: ColumnScaling, of: Pick<SurveyedRows, "selected" | "survey">) => {
    if (read === "memory") throw new TypeError("rows in memory are scaled there");
    const scaledOf = { selected: scaled(of.selected, scaling), survey: scaledSurvey(of.survey, scaling) };
    return sourceOn({ ...all, ...scaledOf }, read, options);
  };
  return {
    ...(read === "memory" ? await loadedSqlSource(all, options, signal) : sourceOn(all, read, options)),
    read,
    dropped: survey.dropped,
    scaled: (scaling: ColumnScaling) => staying(scaling, all),
    async bounded(bounds: readonly SourceBounds[], scaling: ColumnScaling): Promise<BoundedSource> {
      const within = await surveyWithin(rows, all, bounds, signal);
      return { source: staying(scaling, within), outside: within.outside };
    },
  };
}

/** The words of a source's devices and categories. */
export function wordsOfSqlSource(text: string, options: OpenOptions, request: WordsRequest): Promise<SourceWords> {
  return withEngine(text, options, (engine, address) =>
    sourceWords(
      engine,
      filtered(askedRelation(address, engine, options.query), options.where),
      request,
      options.signal,
    ),
  );
}

/** Rows of a source, and for each column that its encoding gives the sum of its numbers and how many they are. */
export function sumsOfSqlSource(text: string, options: OpenOptions & Required<Pick<OpenOptions, "encoding">>) {
  const { query, where, signal, encoding = [] } = options;
  return withEngine(text, options, async (engine, address) => {
    const relation = askedRelation(address, engine, query);
    const { dialect } = engine;
    const all = await engine.columns(filtered(relation, where), signal);
    const columns = encodedEngineColumns(all, encoding, undefined, dialect);
    return sourceSums(engine, { dialect, relation, columns, where, dropsMissing: false }, signal);
  });
}

/** What fedkm inspect shows of a source. */
export function describeSqlSource(text: string, options: OpenOptions) {
  const { query, where, signal } = options;
  return withEngine(text, options, async (engine, address) => {
    const relation = askedRelation(address, engine, query);
    const all = await engine.columns(filtered(relation, where), signal);
    const numeric = all.filter(({ isNumeric }) => isNumeric).map((column) => ({ ...column, isNullable: true }));
    const asked = { dialect: engine.dialect, relation, columns: numeric, where, dropsMissing: false };
    const summary = numeric.length === 0 ? undefined : await engineRows(engine).summary(asked, signal);
    const columns = all.map(({ name, type }) => {
      const at = numeric.findIndex((column) => column.name === name);
      if (at < 0 || summary === undefined) return { name, type, seen: undefined };
      const { least, most, missing, infinite } = summary;
      return { name, type, seen: { least: least[at], most: most[at], missing: missing[at], infinite: infinite[at] } };
    });
    return { engine: engine.dialect.name, rows: summary?.rows, columns };
  });
}

/** An engine for as long as `work` takes. */
async function withEngine<T>(
  text: string,
  options: Pick<OpenOptions, "timeLimit" | "env">,
  work: (engine: SqlEngine, address: Address) => Promise<T>,
): Promise<T> {
  const address = parseAddress(text);
  const engine = await openEngine(address, options);
  try {
    return await work(engine, address);
  } finally {
    await engine.close();
  }
}

function scaled(selected: RowSelection, { offset, scale }: ColumnScaling): RowSelection {
  const columns = selected.columns.map((column, j) => ({ ...column, scaling: { offset: offset[j], scale: scale[j] } }));
  return { ...selected, columns };
}

/** Scales are above 0, and rounding keeps the order: extremes stay extremes. */
function scaledSurvey(survey: Survey, { offset, scale }: ColumnScaling): Survey {
  const onScale = (values: Float64Array) => values.map((x, j) => (x - offset[j]) / scale[j]);
  return { ...survey, least: onScale(survey.least), most: onScale(survey.most) };
}

async function openEngine(
  address: Address,
  { timeLimit = 3600, env }: Pick<OpenOptions, "timeLimit" | "env">,
): Promise<SqlEngine> {
  const { scheme, host, port, database, user, certificates } = address;
  if (scheme === "duckdb") return openDuckDB(isDatabase(database) ? database : undefined, timeLimit);
  if (scheme === "sqlite") return openSqlite(database);
  const isSecure = address.tls ?? !isLocalEngine(host);
  const password = passwordOf(address, env);
  if (scheme === "clickhouse") {
    return openClickHouse({
      host,
      port: port ?? (isSecure ? 8443 : 8123),
      isSecure,
      database: database || "default",
      user: user || "default",
      password: password ?? "",
      timeLimit,
      ca: certificates === undefined ? undefined : readFileSync(certificates, "utf8"),
    });
  }
  return openPostgres({
    host: host || "localhost",
    port: port ?? 5432,
    database,
    user: user || (env.PGUSER ?? env.USER ?? "postgres"),
    password,
    tls: isSecure && { ...(certificates !== undefined && { ca: readFileSync(certificates, "utf8") }) },
    timeLimit,
  });
}

function isDatabase(path: string): boolean {
  return /\.(duckdb|db|ddb)$/.test(path);
}

function askedRelation(address: Address, engine: SqlEngine, query: string | undefined): string {
  return query === undefined ? relationOf(address, engine) : `(${query}\n) AS q`;
}

function filtered(relation: string, where: string | undefined): string {
  return where === undefined ? relation : `(SELECT * FROM ${relation} WHERE (${where}\n)) AS q`;
}

function relationOf({ scheme, database, schema, table }: Address, { dialect }: SqlEngine): string {
  if (scheme === "duckdb" && !isDatabase(database)) return filesOf(database);
  if (table === undefined) {
    throw new SourceError(
      `${database}: a table must be named, as ?table=NAME${scheme === "clickhouse" ? " or /DATABASE/TABLE" : ""}, or a --query given`,
    );
  }
  return schema === undefined ? dialect.quote(table) : `${dialect.quote(schema)}.${dialect.quote(table)}`;
}

/** A folder stands for all Parquet files in it, or else for all CSV files. Folders like year=2026 become columns. */
function filesOf(path: string): string {
  if (existsSync(path) && statSync(path).isDirectory()) {
    const files = readdirSync(path, { recursive: true, encoding: "utf8" });
    const found = [".parquet", ".csv", ".csv.gz"].find((end) => files.some((file) => file.endsWith(end)));
    return filesOf(join(path, "**", `*${found ?? ".parquet"}`));
  }
  if (/\.(csv|tsv)(\.gz)?$/.test(path)) return `${TEXT}(${duckdb.text(path)}, hive_partitioning = true)`;
  return `read_parquet(${duckdb.text(path)}, hive_partitioning = true)`;
}

const TEXT = "read_csv";

function nameOf({ scheme, database, table }: Address): string {
  if (table !== undefined) return table;
  return scheme === "duckdb" || scheme === "sqlite"
    ? basename(database)
        .replace(/\.\w+$/, "")
        .replace(/^[*]+$/, "files")
    : database;
}

/** Seconds between two questions for a watermark, by default. */
const EVERY = 60;

/** The versions of sources that were asked for last, and when. */
const versions = new Map<string, { readonly at: number; readonly version: string }>();

/**
 * Whether rows have changed, without reading them: a text that stays the same while they do. With `watermark=COLUMN` it is made of the number of rows and the largest
 * value of that column, which are asked for every 60 or `every` seconds. With `every=SECONDS` alone it changes after so
 * many. Without both it never changes.
 */
export async function sqlSourceVersion(text: string, env: NodeJS.ProcessEnv, now = Date.now()): Promise<string> {
  const { watermark, every } = parseAddress(text);
  if (watermark === undefined) return every === undefined ? "once" : String(Math.floor(now / (1000 * every)));
  const before = versions.get(text);
  if (before !== undefined && now - before.at < 1000 * (every ?? EVERY)) return before.version;
  // A server that is away has not changed its rows.
  const version = await askFor(text, watermark, env).catch(() => before?.version ?? "away");
  versions.set(text, { at: now, version });
  return version;
}

function askFor(text: string, watermark: string, env: NodeJS.ProcessEnv): Promise<string> {
  return withEngine(text, { env }, async (engine, address) => {
    const { double, fingerprint, quote } = engine.dialect;
    const asked = `${double("count(*)", false)}, ${fingerprint(`max(${quote(watermark)})`)}`;
    const { data } = await gatherEngineRows(
      engine.blocks(`SELECT ${asked} FROM ${relationOf(address, engine)} AS s`, 2),
      2,
    );
    return data.join(" ");
  });
}

export function passwordOf({ scheme, passwordEnv, passwordFile }: Address, env: NodeJS.ProcessEnv): string | undefined {
  if (passwordFile === undefined) {
    const name = passwordEnv ?? PASSWORD_VARIABLES[scheme];
    if (passwordEnv !== undefined && env[name] === undefined) {
      throw new SourceError(`the variable ${name} must hold the password, and is not set`);
    }
    return env[name];
  }
  const { mode } = statSync(passwordFile);
  if ((mode & 0o077) !== 0) {
    throw new SourceError(`${passwordFile}: only its owner may read a file of a password: chmod 600 ${passwordFile}`);
  }
  return readFileSync(passwordFile, "utf8").replace(/\r?\n$/, "");
}

/** Hosts whose connections do not leave the machine. */
export function isLocalEngine(host: string): boolean {
  return host === "" || host === "localhost" || host === "::1" || host.startsWith("/") || /^127(\.\d+){3}$/.test(host);
}
