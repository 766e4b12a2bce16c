// ClickHouse over HTTP, one server or a Distributed table: plain requests, so there is no driver.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { clickhouse as dialect } from "./dialects.ts";
import { SourceError } from "./driver.ts";
import { BlockFiller, type EngineServer, type SqlEngine } from "./engine.ts";

export interface ClickHouseServer extends EngineServer {
  readonly isSecure: boolean;
  readonly password: string;
  /** Certificates to trust in the place of the system's. */
  readonly ca: string | undefined;
}

const NUMERIC = /^(Nullable\()?(U?Int(8|16|32|64|128|256)|Float(32|64)|Decimal(\d+)?\(.*\))\)?$/;

export function openClickHouse(server: ClickHouseServer): SqlEngine {
  let reading: Promise<Settings> | undefined;
  const ask = async (statement: string, signal: AbortSignal | undefined, further: Settings = {}) => {
    reading ??= readingSettings(server, signal);
    const settings = await reading.catch((error) => {
      reading = undefined;
      throw error;
    });
    return answerOf(server, statement, { ...settings, ...further }, signal);
  };
  async function* blocks(statement: string, cols: number, signal?: AbortSignal, isNumbered = false) {
    const filler = new BlockFiller(cols);
    const further: Settings = isNumbered ? { max_threads: "1" } : {};
    for await (const bytes of await ask(`${statement} FORMAT RowBinary`, signal, further)) {
      for (let at = 0; at < bytes.length; ) {
        at += filler.take(bytes, at);
        if (filler.isFull) yield filler.drain();
      }
    }
    const rest = filler.drain();
    if (rest.rows > 0) yield rest;
  }
  return {
    dialect,
    async columns(relation, signal) {
      const text = await textOf(await ask(`SELECT * FROM ${relation} LIMIT 0 FORMAT TSVWithNamesAndTypes`, signal));
      const [names = [], types = []] = text.split("\n").map((line) => line.split("\t"));
      return names.map((name, i) => ({
        name: unescaped(name),
        type: types[i],
        isNumeric: NUMERIC.test(types[i]),
        isNullable: types[i].startsWith("Nullable("),
      }));
    },
    blocks,
    async texts(statement, signal, isNumbered = false) {
      const settings: Settings = isNumbered ? { max_threads: "1" } : {};
      const text = await textOf(await ask(`${statement} FORMAT TSV`, signal, settings));
      const cell = (own: string) => (own === "\\N" ? null : unescaped(own));
      return text === "" ? [] : text.split("\n").map((line) => line.split("\t").map(cell));
    },
    async write(statements, signal) {
      for (const statement of statements) await textOf(await answerOf(server, statement, {}, signal));
    },
    isPassing: (error) => PASSING.has((error as { code?: string }).code ?? ""),
    async close() {},
  };
}

type Settings = Readonly<Record<string, string>>;

/** The server must not let anything be changed, and those that can stop when nobody listens any more are asked to. */
async function readingSettings(server: ClickHouseServer, signal: AbortSignal | undefined): Promise<Settings> {
  const name = "cancel_http_readonly_queries_on_client_close";
  const statement = `SELECT count() FROM system.settings WHERE name = '${name}' FORMAT TSV`;
  const isKnown = (await textOf(await answerOf(server, statement, READ_ONLY, signal))) === "1";
  return isKnown ? { ...READ_ONLY, [name]: "1" } : READ_ONLY;
}

const READ_ONLY: Settings = { readonly: "1" };

/** Connections, and the codes of ClickHouse for shards that do not answer. */
const PASSING = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENOTFOUND", "CUT_SHORT"],
  ...["32", "209", "210", "279"],
]);

function answerOf(
  { host, port, isSecure, database, user, password, timeLimit, ca }: ClickHouseServer,
  statement: string,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const query = new URLSearchParams({ database, max_execution_time: String(timeLimit), ...settings });
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = (isSecure ? httpsRequest : httpRequest)(
      {
        host,
        port,
        method: "POST",
        path: `/?${query}`,
        headers: { "X-ClickHouse-User": user, "X-ClickHouse-Key": password },
        ...(signal && { signal }),
        ...(ca !== undefined && { ca }),
      },
      (answer) => {
        if (answer.statusCode === 200) resolve(wholeAnswer(answer));
        else textOf(answer).then((text) => reject(refusal(text)), reject);
      },
    );
    asked.on("error", reject);
    asked.end(statement);
  });
}

/** An answer that a server did not end is no answer, and neither is one that ends with words. */
async function* wholeAnswer(answer: IncomingMessage): AsyncIterable<Uint8Array> {
  let tail: Buffer = Buffer.alloc(0);
  for await (const bytes of answer as AsyncIterable<Buffer>) {
    tail = bytes.length >= TAIL ? bytes.subarray(-TAIL) : Buffer.concat([tail, bytes]).subarray(-TAIL);
    yield bytes;
  }
  if (!answer.complete) throw Object.assign(new Error("ClickHouse ended its answer too early"), { code: "CUT_SHORT" });
  const words = tail.toString("latin1").match(/Code: \d+, e\.displayText\(\) = DB::.*|Code: \d+\. DB::Exception.*/s);
  if (words !== null) throw refusal(words[0]);
}

/** Bytes at the end of an answer that may hold the words of a failure. */
const TAIL = 4096;

function refusal(text: string): SourceError {
  const code = /Code: (\d+)/.exec(text)?.[1];
  return Object.assign(new SourceError(`ClickHouse refused a query: ${firstLine(text)}`), { code });
}

async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const parts = [];
  for await (const bytes of answer) parts.push(bytes);
  return Buffer.concat(parts).toString("utf8").replace(/\n$/, "");
}

function firstLine(text: string): string {
  return text.split("\n")[0].slice(0, 300);
}

/** Names in tab-separated answers have escapes. */
function unescaped(name: string): string {
  const marks: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", 0: "\0" };
  return name.replace(/\\(.)/gs, (_, mark: string) => marks[mark] ?? mark);
}
