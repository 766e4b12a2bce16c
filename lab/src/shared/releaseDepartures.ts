// Devices that leave in the middle of a private release, at every step of it: nobody pays for sums that are not read, no
// two sums over different devices are read, and before enough devices hold the sums nobody can read them.

import { observeBoards } from "@fedkm/audit";
import { type Graph, graph, paperData, randomStream } from "@fedkm/core";
import { contractOf, foundedStudy, parseStudy, simulate } from "@fedkm/device";
import { simulatedPeer, simulatedSecrets } from "@fedkm/device/inspect";
import {
  type BoardMessage,
  decodeShared,
  heldShares,
  idOf,
  isKey,
  recoveredSecret,
  stages,
  sumsShape,
} from "@fedkm/device/shared";
import { isHeld, print, progress } from "../measure.ts";

const DEVICES = 6;
const COLLUDERS = 1;
/** Each is linked to four others, so that all still hold together without one of them and a colluder. */
const links: Graph = graph(
  DEVICES,
  Array.from({ length: DEVICES }, (_, i) => [1, 2].map((step) => [i, (i + step) % DEVICES] as [number, number])).flat(),
);
const others = (leaver: number) => Array.from({ length: DEVICES }, (_, i) => i).filter((i) => i !== leaver);

/** After this time a silent device is left out, and what can come to an end has done so. */
const WAIT_MILLISECONDS = 200_000;
const LONGEST_MILLISECONDS = 60_000;

/** What the leaver has done last, as its neighbours know. */
const ROUNDS = [1, 2, 3, 4] as const;
type Round = (typeof ROUNDS)[number];
type Step = "is counted" | `${"sealed" | "tally for" | "keys of"} round ${Round}`;
export const releaseSteps: readonly Step[] = [
  "is counted",
  ...ROUNDS.flatMap((n) => (["sealed", "tally for", "keys of"] as const).map((what) => `${what} round ${n}` as const)),
];

const ways = ["leaves for good", "is killed and comes back", "is cut off and comes back"] as const;

function studyFor(devices: number) {
  const bounds = { unit: "", min: -13, max: 13 };
  const features = ["x", "y"].map((name) => ({ name, ...bounds }));
  const sizes = { k: 3, devices, typicalRows: 100, epsilon: 4, colluders: COLLUDERS };
  const choices = { name: "leavers", clusters: "shared", privacy: "private", features, ...sizes };
  return foundedStudy(
    parseStudy(JSON.stringify(choices)),
    Array.from({ length: DEVICES }, (_, i) => simulatedPeer(i)),
  );
}

/** Which step of the leaver a frame shows, if any. */
function stepIn({ entries, order }: BoardMessage, id: string): Step | undefined {
  const own = entries.find((entry) => entry.id === id);
  if (own === undefined) return undefined;
  // Half of what is above 64 for each version: the rounds that are known.
  const known = (order.rank % 64) >> 1;
  if (own.seal.length === 0) return known === 0 ? "is counted" : undefined;
  const of = `round ${(known + 1) as Round}` as const;
  if (own.words.length > 0) return `sealed ${of}`;
  return isKey(own) ? `keys of ${of}` : `tally for ${of}`;
}

interface Departure {
  readonly step: Step;
  readonly way: number;
  readonly seed: number;
  /** How many devices the study asks for: all, or one can be missing. */
  readonly devices: number;
}

interface Found {
  /** Devices that stayed, paid, and have no answer. */
  readonly paidForNothing: number;
  readonly hasAnswer: boolean;
  /** Nothing was paid, and devices are counted again. */
  readonly isBack: boolean;
  /** Stages of an answer for which sums over two sets of devices can be read. */
  readonly readTwice: number;
  /** Secrets of honest devices that a colluder could put together before anybody showed a key. */
  readonly recovered: number;
  readonly isReached: boolean;
}

export async function departure({ step, way, seed, devices }: Departure): Promise<Found> {
  const study = studyFor(devices);
  const contract = await contractOf(study);
  const random = randomStream(seed, step);
  const leaver = Math.floor(DEVICES * random());
  const id = idOf(simulatedSecrets("anybody").keyOf(simulatedPeer(leaver)));
  const seen = observeBoards(study, contract, simulatedSecrets("observer"));
  const read = decodeShared(sumsShape(study));
  let isReached = false;
  const network = simulate({
    ...{ study, contract, datasets: paperData("iso", DEVICES, 100, seed).datasets, graph: links, seed },
    ...{ staggerMilliseconds: 100, weather: { loss: 0.3 } },
    onEvent({ frame }) {
      if (frame.length === 0) return;
      seen.see(frame);
      const message = read(contract, frame);
      if (message.kind === "board" || message.kind === "proof") isReached ||= stepIn(message, id) === step;
    },
  });
  while (!isReached && network.now() < LONGEST_MILLISECONDS) network.run(1);
  network.run(30 * random());
  if (way < 2) network.crash(leaver);
  else for (const other of others(leaver)) network.setCut(leaver, other, true);
  const recovered = secretsRecovered(seen, (leaver + 1) % DEVICES);
  network.run(WAIT_MILLISECONDS);
  const stayed = others(leaver).map((i) => network.status(i));
  const paid = stayed.filter((status) => (status.private?.releases ?? 0) > 0);
  const answers = new Set(stayed.map(({ phase, centroids }) => (phase === "settled" ? JSON.stringify(centroids) : "")));
  const hasAnswer = answers.size === 1 && !answers.has("");
  if (way === 1) network.restart(leaver);
  if (way === 2) for (const other of others(leaver)) network.setCut(leaver, other, false);
  if (way > 0) network.run(WAIT_MILLISECONDS);
  const end = Array.from(links.neighbours, (_, i) => (way > 0 || i !== leaver ? network.status(i) : stayed[0]));
  const isEnded = end.every(({ phase, centroids }) => {
    return way === 0 && !hasAnswer ? true : phase === "settled" && centroids !== null;
  });
  const rows = new Map<string, Set<string>>();
  for (const { content, devices: among } of seen.sums()) {
    if (content.stage === stages.census) continue;
    const asked = `${content.roster?.version} ${content.steps}`;
    rows.set(asked, (rows.get(asked) ?? new Set()).add([...among].sort().join(" ")));
  }
  return {
    paidForNothing: hasAnswer ? 0 : paid.length,
    hasAnswer: hasAnswer && isEnded,
    isBack: !hasAnswer && paid.length === 0 && isEnded,
    readTwice: [...rows.values()].filter(({ size }) => size > 1).length,
    recovered,
    isReached,
  };
}

/** What a colluder can put together of others' secrets, of boards that were complete and of which no key was shown. */
function secretsRecovered(seen: ReturnType<typeof observeBoards>, colluder: number): number {
  const secrets = simulatedSecrets(simulatedPeer(colluder));
  const own = idOf(secrets.key);
  const peers = new Map(
    Array.from({ length: DEVICES }, (_, i) => [idOf(secrets.keyOf(simulatedPeer(i))), simulatedPeer(i)] as const),
  );
  return seen
    .sealed()
    .filter(({ shown }) => !shown.some(isKey))
    .flatMap(({ content, entries }) => {
      const { roster } = content;
      const byId = new Map(entries.map((entry) => [entry.id, entry]));
      const board = { generation: content, entries, entryOf: (id: string) => byId.get(id) };
      const held = roster && heldShares(secrets, board, roster, (id) => peers.get(id));
      return entries.filter((entry) => {
        const share = held?.get(entry.id);
        if (roster === undefined || share === undefined) return false;
        return recoveredSecret(entry, roster, COLLUDERS, [{ holder: own, share }]) !== undefined;
      });
    }).length;
}

export async function releaseDepartures({ departures }: { departures: number }): Promise<boolean> {
  const heading = ["the leaver's last step", "departures", "answer", "counted again, nothing paid"];
  const rows = [[...heading, "paid for nothing", "two sums read", "secrets recovered"]];
  const missed: string[] = [];
  for (const step of releaseSteps) {
    const found: Found[] = [];
    for (let n = 0; n < departures; n++) {
      progress(`${step}, ${n + 1} of ${departures}`);
      const given = { step, way: n % ways.length, devices: n % 2 === 0 ? DEVICES - 1 : DEVICES };
      // A device whose key the others could do without may never show it.
      let tried = await departure({ ...given, seed: 1 + n });
      for (let seed = 1_001 + n; !tried.isReached && seed < 10_000; seed += 1_000)
        tried = await departure({ ...given, seed });
      found.push(tried);
    }
    const sum = (of: (one: Found) => number | boolean) => found.reduce((total, one) => total + Number(of(one)), 0);
    const [answers, back] = [sum(({ hasAnswer }) => hasAnswer), sum(({ isBack }) => isBack)];
    const bad = [
      sum(({ paidForNothing }) => paidForNothing),
      sum(({ readTwice }) => readTwice),
      sum(({ recovered }) => recovered),
    ];
    rows.push([step, ...[found.length, answers, back, ...bad].map(String)]);
    const isGood = answers + back === found.length && bad.every((many) => many === 0);
    if (!isGood || !found.every(({ isReached }) => isReached)) missed.push(step);
  }
  progress("");
  print(`A device of ${DEVICES} leaves a private release: ${ways.join(", ")}; 30 % of frames lost`, rows);
  return isHeld("an answer, or nothing was paid", missed);
}
