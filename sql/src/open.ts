// From an address to a source: the engine is opened, the columns are chosen, and all rows are looked at once.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Matrix } from "@fedkm/core";
import type { Source } from "@fedkm/core/sources";
import { type Address, parseAddress, type Way } from "./address.ts";
import { openClickHouse } from "./clickhouse.ts";
import { duckdb } from "./dialects.ts";
import { SourceError } from "./driver.ts";
import { openDuckDB } from "./duckdb.ts";
import type { Engine } from "./engine.ts";
import { CLUSTER, labelStatements } from "./label.ts";
import { openPostgres } from "./postgres.ts";
import { type Rows, rowsIn } from "./rows.ts";
import { isLocal, passwordOf } from "./secrets.ts";
import { loadedSource, type Surveyed, sourceOn, type Watcher } from "./source.ts";
import { type Spool, spool } from "./spool.ts";
import type { Bounds, Selected } from "./statements.ts";
import { chooseColumns, type MissingRows, type Survey, surveyOf, surveyWithin } from "./survey.ts";

export interface OpenOptions extends Watcher {
  readonly columns?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** A SELECT in the place of a table. */
  readonly query?: string | undefined;
  /** A condition in SQL. */
  readonly where?: string | undefined;
  /** Default "refuse". */
  readonly missing?: MissingRows | undefined;
  /** Default: files are loaded where they fit and streamed where they do not, and servers aggregate. */
  readonly way?: Way | undefined;
  /** Seconds for a query. Default 3600. */
  readonly timeLimit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Where passwords may be. */
  readonly env: NodeJS.ProcessEnv;
}

export interface OpenSource extends Source {
  /** A short name, without user or host. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly way: Way;
  /** Rows that were left out because a number is missing. */
  readonly dropped: number;
  /** The same rows with x as (x - offset) / scale, where they are not in memory. */
  scaled(scaling: ColumnScaling): Source;
  /** The rows within the bounds of each column on such a scale, and for each column how many rows of all are outside. */
  bounded(bounds: readonly Bounds[], scaling: ColumnScaling): Promise<BoundedSource>;
  /** Makes a table with all columns and the cluster of each row. The centroids are on this scale. */
  labelInto(table: string, centroids: Matrix, scaling: ColumnScaling): Promise<void>;
  close(): Promise<void>;
}

export interface BoundedSource {
  readonly source: Source;
  readonly outside: readonly number[];
}

/** Of each column. */
export interface ColumnScaling {
  readonly offset: readonly number[];
  readonly scale: readonly number[];
}

/** Numbers that are loaded rather than streamed: 0.8 GB, and as much again in the kernel. */
const FITS = 1e8;

export async function openSource(text: string, options: OpenOptions): Promise<OpenSource> {
  const { query } = options;
  const address = parseAddress(text);
  const engine = await openEngine(address, options);
  try {
    const relation = askedRelation(address, engine, query);
    const way = options.way ?? address.way ?? (address.scheme === "duckdb" ? undefined : "pushed");
    const isText = query === undefined && relation.startsWith(TEXT);
    return await engineSource(engine, { name: nameOf(address), relation, isText }, { ...options, way });
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
  engine: Engine,
  { name, relation, isText = false }: Relation,
  options: EngineOptions,
): Promise<OpenSource> {
  const { where, columns, exclude, signal } = options;
  const all = await engine.columns(filtered(relation, where), signal);
  const chosen = chooseColumns(all, {
    ...(columns && { columns }),
    ...(exclude && { exclude }),
  });
  const asked = { dialect: engine.dialect, relation, columns: chosen, where, dropsMissing: false };
  const kept = isText && options.way !== "pushed" ? await keepRows(engine, asked, options) : undefined;
  const close = async () => {
    await kept?.close();
    await engine.close();
  };
  try {
    const { way, ...source } = await surveyedSource(engine, kept ?? rowsIn(engine), asked, options);
    // They have been copied.
    if (way === "memory") await kept?.close();
    const labelInto = async (table: string, centroids: Matrix, scaling: ColumnScaling) => {
      const names = all.map((column) => column.name);
      if (names.includes(CLUSTER)) {
        throw new SourceError(`the rows must not have a column "${CLUSTER}" yet: leave it out in a view or a --query`);
      }
      await engine.write(labelStatements(scaled(asked, scaling), names, centroids, table), signal);
    };
    return { ...source, name, columns: chosen.map((column) => column.name), way, labelInto, close };
  } catch (error) {
    await kept?.close();
    throw error;
  }
}

/** One pass over text, for whatever will be asked. */
function keepRows(engine: Engine, asked: Selected, { way, onRows = () => {}, signal }: EngineOptions): Promise<Spool> {
  const columns = asked.columns.map((column) => ({ ...column, isNullable: true }));
  const mostInMemory = way === "memory" ? Number.POSITIVE_INFINITY : way === "stream" ? 0 : FITS;
  return spool(rowsIn(engine).blocks({ ...asked, columns }, signal, true), columns.length, mostInMemory, onRows);
}

async function surveyedSource(engine: Engine, rows: Rows, asked: Selected, options: EngineOptions) {
  const { missing = "refuse", signal } = options;
  const { survey, selected } = await surveyOf(rows, asked, missing, signal);
  const way = options.way ?? (survey.rows * asked.columns.length <= FITS ? "memory" : "stream");
  const all: Surveyed = { engine, rows, selected, survey };
  const staying = (scaling: ColumnScaling, of: Pick<Surveyed, "selected" | "survey">) => {
    if (way === "memory") throw new TypeError("rows in memory are scaled there");
    const scaledOf = { selected: scaled(of.selected, scaling), survey: scaledSurvey(of.survey, scaling) };
    return sourceOn({ ...all, ...scaledOf }, way, options);
  };
  return {
    ...(way === "memory" ? await loadedSource(all, options, signal) : sourceOn(all, way, options)),
    way,
    dropped: survey.dropped,
    scaled: (scaling: ColumnScaling) => staying(scaling, all),
    async bounded(bounds: readonly Bounds[], scaling: ColumnScaling): Promise<BoundedSource> {
      const within = await surveyWithin(rows, all, bounds, signal);
      return { source: staying(scaling, within), outside: within.outside };
    },
  };
}

/** What fedkm inspect shows of a source. */
export async function describeSource(text: string, options: OpenOptions) {
  const { query, where, signal } = options;
  const address = parseAddress(text);
  const engine = await openEngine(address, options);
  try {
    const relation = askedRelation(address, engine, query);
    const all = await engine.columns(filtered(relation, where), signal);
    const numeric = all.filter(({ isNumeric }) => isNumeric).map((column) => ({ ...column, isNullable: true }));
    const asked = { dialect: engine.dialect, relation, columns: numeric, where, dropsMissing: false };
    const seen = numeric.length === 0 ? undefined : await rowsIn(engine).look(asked, signal);
    const columns = all.map(({ name, type }) => {
      const at = numeric.findIndex((column) => column.name === name);
      const range = (own: NonNullable<typeof seen>) => {
        return { least: own.least[at], most: own.most[at], missing: own.missing[at], infinite: own.infinite[at] };
      };
      return { name, type, seen: at < 0 || seen === undefined ? undefined : range(seen) };
    });
    return { engine: engine.dialect.name, rows: seen?.rows, columns };
  } finally {
    await engine.close();
  }
}

function scaled(selected: Selected, { offset, scale }: ColumnScaling): Selected {
  const columns = selected.columns.map((column, j) => ({ ...column, scaling: { offset: offset[j], scale: scale[j] } }));
  return { ...selected, columns };
}

/** Scales are above 0, and rounding keeps the order: extremes stay extremes. */
function scaledSurvey(survey: Survey, { offset, scale }: ColumnScaling): Survey {
  const onScale = (values: Float64Array) => values.map((x, j) => (x - offset[j]) / scale[j]);
  return { ...survey, least: onScale(survey.least), most: onScale(survey.most) };
}

export async function openEngine(
  address: Address,
  { timeLimit = 3600, env }: Pick<OpenOptions, "timeLimit" | "env">,
): Promise<Engine> {
  const { scheme, host, port, database, user, certificates } = address;
  if (scheme === "duckdb") return openDuckDB(isDatabase(database) ? database : undefined, timeLimit);
  const isSecure = address.tls ?? !isLocal(host);
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

function askedRelation(address: Address, engine: Engine, query: string | undefined): string {
  return query === undefined ? relationOf(address, engine) : `(${query}\n) AS q`;
}

function filtered(relation: string, where: string | undefined): string {
  return where === undefined ? relation : `(SELECT * FROM ${relation} WHERE (${where}\n)) AS q`;
}

export function relationOf({ scheme, database, schema, table }: Address, { dialect }: Engine): string {
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
  return parquet(path);
}

/** The function of DuckDB for files of text. */
const TEXT = "read_csv";

function parquet(pattern: string): string {
  return `read_parquet(${duckdb.text(pattern)}, hive_partitioning = true)`;
}

function nameOf({ scheme, database, table }: Address): string {
  if (table !== undefined) return table;
  return scheme === "duckdb"
    ? basename(database)
        .replace(/\.\w+$/, "")
        .replace(/^[*]+$/, "files")
    : database;
}
