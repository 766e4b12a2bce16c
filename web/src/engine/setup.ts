// What the playground shows, as plain data: which problem, which method, what happens on the way. The address holds it.

/** Those that go on in rounds, so that there is something to watch. */
const playgroundMethods = ["fedkm", "local", "consensus", "distributed", "pooled"] as const;
export type PlaygroundMethod = (typeof playgroundMethods)[number];

/** Settings that are one of several words. */
export const choices = {
  /** Data that the page makes itself. "own" are the reader's files, which no address can hold. */
  data: ["iso", "var", "aniso", "communities", "skew", "shifted", "tiny", "own"],
  graph: ["er", "complete", "ring", "path", "star", "grid", "communities"],
  method: playgroundMethods,
  /** The method beside it on the same data, if any. */
  versus: ["none", ...playgroundMethods],
  /** aligned: own k-means, and every device gives its clusters the order of a neighbour's. */
  start: ["auto", "federated", "local", "aligned", "kmeans++"],
  schedule: ["cyclic", "random", "coloured", "simultaneous"],
  penalty: ["squared", "norm", "truncated"],
  /** dependable: what fedkm does unless told otherwise. paper: Algorithm 1 as printed. */
  preset: ["dependable", "paper"],
  /** guarded: nothing that is sent isolates fewer than ten rows. */
  privacy: ["open", "guarded"],
} as const;

type Choices = { readonly [name in keyof typeof choices]: (typeof choices)[name][number] };

/**
 * What happens to a device: it begins with useless centroids, it stops but stays in its neighbours' memory, it sends the
 * same lie from now on, or it leaves for good.
 */
export const deviceEvents = ["wrong", "kill", "lie", "leave"] as const;
const linkEvents = ["cut", "link"] as const;

export type StoryEvent =
  | { readonly round: number; readonly kind: (typeof deviceEvents)[number]; readonly device: number }
  | { readonly round: number; readonly kind: (typeof linkEvents)[number]; readonly ends: readonly [number, number] };

/** What the playground runs. */
export interface Setup extends Choices {
  readonly devices: number;
  /** Of each device; of data "tiny", of the large one. */
  readonly points: number;
  /** Of graph "er": the share of pairs that are linked. */
  readonly density: number;
  readonly k: number;
  readonly alpha: number;
  /** Whether devices look for their clusters again when somebody has left, as real devices do. */
  readonly heal: boolean;
  /** The gate: whether devices leave out what is too far from their rows and other neighbours, as real devices do. */
  readonly robust: boolean;
  readonly seed: number;
  readonly events: readonly StoryEvent[];
}

export const defaultSetup: Setup = {
  data: "var",
  devices: 12,
  points: 60,
  graph: "er",
  density: 0.4,
  k: 3,
  alpha: 1,
  method: "fedkm",
  versus: "none",
  start: "local",
  schedule: "cyclic",
  penalty: "squared",
  preset: "dependable",
  privacy: "open",
  heal: true,
  robust: false,
  seed: 1,
  events: [],
};

/** Four clinics of which three have no row of one of the three clusters: the first stop, and the head of the article. */
export const fourClinics: Setup = {
  ...defaultSetup,
  data: "skew",
  devices: 4,
  graph: "ring",
  seed: 4,
  alpha: 0.1,
  versus: "local",
};

/** Of numbers: the least, the most, and whether only whole ones count. */
export const limits = {
  devices: { least: 2, most: 1000, whole: true },
  points: { least: 3, most: 2000, whole: true },
  density: { least: 0, most: 1, whole: false },
  k: { least: 1, most: 8, whole: true },
  alpha: { least: 0, most: 1000, whole: false },
  seed: { least: 0, most: 2 ** 32 - 1, whole: true },
} as const;

/** More rounds than anybody watches; with a device that lies nothing ends by itself. */
export const MOST_ROUNDS = 400;

/** With more devices a random network has so many links that a round takes seconds. */
const MOST_DEVICES_AT_RANDOM = 100;

/** The network that nobody has chosen. */
export function defaultGraph(devices: number): Setup["graph"] {
  return devices > MOST_DEVICES_AT_RANDOM ? "ring" : defaultSetup.graph;
}

/**
 * The part of an address behind "#": every setting that differs from its default, and the round that is shown. Infinity is
 * the end, where the devices have settled.
 */
export function setupAddress(setup: Setup, round: number): string {
  const named = new URLSearchParams();
  for (const [name, value] of Object.entries(setup)) {
    if (name === "events") continue;
    const usual = name === "graph" ? defaultGraph(setup.devices) : defaultSetup[name as keyof Setup];
    if (value !== usual) named.set(name, String(value));
  }
  if (setup.events.length > 0) named.set("events", setup.events.map(eventText).join(" "));
  if (round > 0) named.set("round", roundText(round));
  return named.toString();
}

/** What `fedkm playground` takes, for a setup that differs from the default in some settings. */
export function playgroundState(changes: Partial<Setup>, round = 0): string {
  return setupAddress({ ...defaultSetup, ...changes }, round);
}

function roundText(round: number): string {
  return round === Number.POSITIVE_INFINITY ? "end" : String(round);
}

function eventText(event: StoryEvent): string {
  const whom = "ends" in event ? event.ends.join("-") : event.device;
  return `${event.round}:${event.kind}:${whom}`;
}

/** What an address says. Whatever is no value of its setting is left at the default. */
export function setupFromAddress(text: string): { readonly setup: Setup; readonly round: number } {
  const given = new URLSearchParams(text);
  const setup: Record<string, unknown> = { ...defaultSetup };
  for (const [name, allowed] of Object.entries(choices)) {
    const value = given.get(name);
    if (value !== null && (allowed as readonly string[]).includes(value)) setup[name] = value;
  }
  for (const [name, limit] of Object.entries(limits)) {
    const value = setupNumber(given.get(name), limit);
    if (value !== undefined) setup[name] = value;
  }
  if (given.get("heal") === "false") setup.heal = false;
  if (given.get("robust") === "true") setup.robust = true;
  const devices = setup.devices as number;
  if (given.get("graph") !== setup.graph) setup.graph = defaultGraph(devices);
  setup.events = (given.get("events") ?? "").split(" ").flatMap((event) => readEvent(event, devices));
  const round = given.get("round");
  return {
    setup: setup as unknown as Setup,
    round:
      round === "end" ? Number.POSITIVE_INFINITY : (setupNumber(round, { least: 0, most: 100_000, whole: true }) ?? 0),
  };
}

/** What of an address is no setting, or no value of its setting. */
export function unreadSetupSettings(text: string): string[] {
  const { setup, round } = setupFromAddress(text);
  const read: Readonly<Record<string, unknown>> = {
    ...setup,
    round: round === Number.POSITIVE_INFINITY ? roundText(round) : round,
    events: setup.events.map(eventText).join(" "),
  };
  const isRead = (name: string, value: string) =>
    String(read[name]) === value || (typeof read[name] === "number" && read[name] === Number(value));
  return [...new URLSearchParams(text)].flatMap(([name, value]) => (isRead(name, value) ? [] : [`${name}=${value}`]));
}

interface Limit {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

/** Undefined: no number, or outside of the limits. */
export function setupNumber(text: string | null, { least, most, whole }: Limit): number | undefined {
  if (text === null || text.trim() === "") return undefined;
  const value = Number(text);
  return value >= least && value <= most && (!whole || Number.isInteger(value)) ? value : undefined;
}

function readEvent(text: string, devices: number): StoryEvent[] {
  const [roundText = "", kind, whom = ""] = text.split(":");
  const round = setupNumber(roundText, { least: 0, most: 100_000, whole: true });
  if (round === undefined) return [];
  const named = whom.split("-").map((part) => setupNumber(part, { least: 0, most: devices - 1, whole: true }));
  const [first, second] = named;
  if (first === undefined) return [];
  const ofDevice = deviceEvents.find((known) => known === kind);
  if (ofDevice !== undefined && named.length === 1) return [{ round, kind: ofDevice, device: first }];
  const ofLink = linkEvents.find((known) => known === kind);
  if (ofLink === undefined || named.length !== 2 || second === undefined || first === second) return [];
  return [{ round, kind: ofLink, ends: [first, second] }];
}
