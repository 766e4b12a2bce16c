// Whether a device keeps to its owner's limits, whatever is tried: a study that asks for more, from the beginning, by a change, by
// questions that close, after a crash, and from an old copy. A device that stays out must send the same bytes with any rows.

import { ownPrivateStudy, ownStudy } from "@fedkm/audit";
import { complete, type Matrix, normalStream, randomStream } from "@fedkm/core";
import { contractOf, type OwnerLimits, parseStudy, type Simulation, type Study, simulate } from "@fedkm/device";
import { simulatedPeer } from "@fedkm/device/inspect";
import { isHeld, print } from "../measure.ts";

const DEVICES = 5;
const ROWS = 300;
const MINUTE = 60_000;
const FIRST_SEED = 32_000;

const ways = ["from the beginning", "by a change", "by closing", "after crashes", "from a copy"] as const;
type Way = (typeof ways)[number];

interface Demand {
  readonly title: string;
  readonly limits: OwnerLimits;
  /** What the study asks for. */
  readonly study: Partial<Study>;
  /** The device takes part, and no group of its rows is smaller than its own minimum. */
  readonly takesPart?: true;
}

const guarded = { privacy: "guarded", minimum: 2 } as const;
const { epsilon, delta, lifetimeEpsilon, typicalRows } = ownPrivateStudy;
const noisy = { privacy: "private", epsilon, delta, lifetimeEpsilon, typicalRows } as Partial<Study>;

const demands: readonly Demand[] = [
  { title: "minimum 2, own 20", limits: { minRows: 20 }, study: guarded, takesPart: true },
  { title: "epsilon 5, own 0.5", limits: { minRows: 20, maxEpsilon: 0.5 }, study: noisy },
  { title: "no noise, own epsilon 0.5", limits: { maxEpsilon: 0.5 }, study: guarded },
  { title: "a forbidden column", limits: { never: [" X2"] }, study: guarded },
  { title: "open, own minimum 20", limits: { minRows: 20 }, study: { privacy: "open", minimum: 1 } },
  { title: "no consent to fit", limits: { consent: ["describe"] }, study: guarded },
];

/** Three groups; another `salt` gives other rows of the same kind. */
function drawnRows(seed: number, device: number, salt: number): Matrix {
  const random = randomStream(seed, "limits", device, salt);
  const normal = normalStream(random);
  const data = Float64Array.from({ length: 2 * ROWS }, () => 0);
  for (let r = 0; r < ROWS; r++) {
    const group = Math.floor(3 * random());
    data[2 * r] = 12 * (group - 1) + 2 * normal();
    data[2 * r + 1] = (group === 1 ? 10 : -5) + 2 * normal();
  }
  return { data, rows: ROWS, cols: 2 };
}

/** What came of one network. */
interface Ending {
  /** Of every byte of every frame, from the moment on from which the rows of device 0 may be others. */
  readonly digest: string;
  /** Whether device 0 rests, and its neighbours know that it stays out. */
  readonly isOut: boolean;
  /** Of the groups of rows of which anything was told; none: nothing was. */
  readonly smallest: number | undefined;
}

const studyOf = (demand: Demand, isShared: boolean): Study => ({
  ...ownStudy,
  ...demand.study,
  ...(isShared && { clusters: "shared" as const, colluders: 1, alpha: 0 }),
  ...(isShared && demand.study.privacy === "private" && { devices: 3 }),
});

/** `salt`: which rows device 0 has where its limits are tried. `limits` none: the same without them. */
async function endingOf(
  way: Way,
  demand: Demand,
  { seed, isShared, salt, limits }: { seed: number; isShared: boolean; salt: number; limits: OwnerLimits },
): Promise<Ending> {
  const study = studyOf(demand, isShared);
  const rowsOf = (i: number) => drawnRows(seed, i, i === 0 ? salt : 0);
  const everyone = Array.from({ length: DEVICES }, (_, i) => i);
  const common = { graph: complete(DEVICES), seed, limits: new Map([[0, limits]]) };
  const begun = async (of: Study, datasets: readonly Matrix[]) =>
    simulate({ ...common, study: of, contract: await contractOf(of), datasets });
  let network: Simulation;
  if (way === "by a change") {
    // Before it the rows are the same in both runs.
    const mild: Study = { ...ownStudy, ...guarded, minimum: 25, features: ownStudy.features.slice(0, 1) };
    network = await begun(
      mild,
      everyone.map((i) => firstColumn(drawnRows(seed, i, 0))),
    );
    network.run(MINUTE / 2);
    await changeTo(network, study, everyone, rowsOf);
  } else if (way === "by closing") {
    const open: Study = {
      ...study,
      features: ownStudy.features.map(({ name, unit }) => ({ name, unit, min: 0, max: 1, scale: 1, open: "number" })),
    };
    const isDescribing = limits.consent !== undefined;
    network = await begun(
      open,
      everyone.map((i) => (isDescribing ? drawnRows(seed, i, 0) : rowsOf(i))),
    );
    network.run(2 * MINUTE);
    const described = everyone.flatMap((i) => network.status(i).shared?.described ?? []);
    const { studyHash, study: text } = described.at(-1) ?? { studyHash: null, study: null };
    for (const i of everyone) network.approve(i, studyHash ?? "");
    network.run(MINUTE);
    if (text === null) throw new Error("the columns must be described by those that take part");
    await changeTo(network, parseStudy(text), everyone, rowsOf);
  } else network = await begun(study, everyone.map(rowsOf));
  network.run(2 * MINUTE);
  if (way === "after crashes")
    for (const epochs of [1, 7]) {
      network.crash(0);
      network.run(MINUTE / 2);
      network.restart(0, epochs);
      network.setRows(0, rowsOf(0));
      network.run(MINUTE);
    }
  if (way === "from a copy") {
    const copy = network.snapshot(0);
    network.run(MINUTE / 2);
    network.crash(0);
    network.restore(0, copy);
    network.restart(0);
    network.consent(0);
    network.setPaused(0, true);
    network.setPaused(0, false);
    network.run(MINUTE);
  }
  const others = everyone.slice(1);
  const isOut = network.status(0).phase === "paused" && others.every((i) => network.change(i).isOut(simulatedPeer(0)));
  return { digest: network.digest(), isOut, smallest: smallestGroup(network) };
}

function firstColumn({ data, rows }: Matrix): Matrix {
  return { data: data.filter((_, i) => i % 2 === 0), rows, cols: 1 };
}

/** All devices go over to another study, and have its rows then. */
async function changeTo(
  network: Simulation,
  study: Study,
  everyone: readonly number[],
  rowsOf: (i: number) => Matrix,
): Promise<void> {
  const contract = await contractOf(study);
  const none = { data: new Float64Array(0), rows: 0, cols: study.features.length };
  for (const i of everyone) network.begin(i, { study, contract, rows: none });
  network.run(MINUTE / 4);
  for (const i of everyone) {
    network.finish(i);
    network.setRows(i, rowsOf(i));
  }
}

function smallestGroup(network: Simulation): number | undefined {
  const classes = network.status(0).guarded?.smallestClass;
  const { columns = [] } = (network.snapshot(0).state?.table ?? {}) as { columns?: { weights?: number[] }[] };
  const sizes = [...(classes == null ? [] : [classes]), ...columns.flatMap(({ weights = [] }) => [...weights])];
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}

export async function ownerLimits(networks: number): Promise<boolean> {
  const table = [["asked for", "way", "networks", "kept", "without limits"]];
  const missed: string[] = [];
  let kept = 0;
  const rows = new Map<string, { tried: number; kept: number; free: number }>();
  for (let n = 0; n < networks; n++) {
    const demand = demands[n % demands.length];
    const asked = ways[Math.floor(n / demands.length) % ways.length];
    // A private study leaves no question open, and one that is changed to draws its noise anew: two runs would differ.
    const isFixed = demand.study.privacy === "private" && (asked === "by closing" || asked === "by a change");
    const way = isFixed ? "after crashes" : asked;
    const given = { seed: FIRST_SEED + n, isShared: n % 2 === 0 || way === "by closing", limits: demand.limits };
    const ending = await endingOf(way, demand, { ...given, salt: 1 });
    const isKept = demand.takesPart
      ? (ending.smallest ?? 0) >= (demand.limits.minRows ?? 0) && !ending.isOut
      : ending.isOut && ending.digest === (await endingOf(way, demand, { ...given, salt: 2 })).digest;
    // The harness must see what it looks for where nothing holds it back.
    const free = await endingOf(way, demand, { ...given, salt: 1, limits: {} });
    const isSeen = demand.takesPart
      ? (free.smallest ?? 0) < 20
      : !free.isOut && free.digest !== (await endingOf(way, demand, { ...given, salt: 2, limits: {} })).digest;
    const row = rows.get(`${demand.title}|${way}`) ?? { tried: 0, kept: 0, free: 0 };
    rows.set(`${demand.title}|${way}`, {
      tried: row.tried + 1,
      kept: row.kept + Number(isKept),
      free: row.free + Number(isSeen),
    });
    kept += Number(isKept);
    if (!isKept || !isSeen)
      missed.push(`${demand.title} ${way} (seed ${given.seed}${isSeen ? "" : ", not seen without limits"})`);
  }
  for (const [key, { tried, kept: own, free }] of rows)
    table.push([...key.split("|"), String(tried), String(own), `seen in ${free}`]);
  print(`Limits of an owner, in networks of ${DEVICES} devices: kept in ${kept} of ${networks}`, table);
  return isHeld("every limit is kept, and each is seen to matter without it", missed);
}
