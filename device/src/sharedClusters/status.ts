// The status of a device with shared clusters, as plain data like every other device's.

import type { Neighbour } from "../neighbour.ts";
import { type DeviceStatus, describeNeighbour } from "../status.ts";
import type { Study } from "../study.ts";
import { stages } from "./generation.ts";
import type { Member } from "./member.ts";
import type { OwnRows } from "./rows.ts";

interface Origin {
  readonly study: Study;
  readonly peer: string;
  readonly epoch: number;
  readonly now: number;
}

interface Counters {
  readonly framesSent: number;
  readonly tellings: number;
}

export function describeShared(
  { study, peer, epoch, now }: Origin,
  member: Member,
  own: OwnRows,
  neighbours: readonly Neighbour[],
  { framesSent, tellings }: Counters,
): DeviceStatus {
  const waiting = waitingOf(study, member, now);
  const { generation, closed } = member;
  const names = Object.keys(stages) as (keyof typeof stages)[];
  return {
    peer,
    study: study.name,
    phase: phaseOf(member, own, waiting),
    rows: own.count,
    rowsLeftOut: own.rowsLeftOut,
    privacy: study.privacy,
    guarded: own.guarded?.status() ?? null,
    private: null,
    epoch,
    opening: 0,
    round: generation.number,
    move: null,
    threshold: 0,
    objective: null,
    drift: null,
    isPulled: false,
    framesSent,
    neighbours: neighbours.map((neighbour) => ({
      ...describeNeighbour(neighbour, epoch, now),
      isAway: !member.counted.some((link) => link.peer === neighbour.peer),
    })),
    shared: {
      generation: generation.number,
      stage: names[generation.stage],
      devices: closed?.devices.length ?? null,
      pooledRows: closed === undefined ? null : generation.rows,
      countedLinks: member.counted.length,
      waiting: waiting ?? null,
      isImplausible: member.outcome === "implausible",
      twofaced: [...member.twofaced],
      tellings,
    },
    centroids: generation.stage < stages.cores ? null : rowsOf(study, generation.numbers),
  };
}

/** Why this device posts nothing, if it does not. */
function waitingOf(study: Study, member: Member, now: number): string | undefined {
  const [pending] = member.pending(now);
  const counted = member.counted.length;
  if (pending !== undefined) return `waits for ${pending.peer} and its other links before anything is added up`;
  const needed = (study.colluders ?? 1) + 1;
  if (counted >= needed) return undefined;
  return `needs ${needed} links to devices that answer, and has ${counted}: with fewer its neighbours could learn its sums`;
}

function phaseOf(member: Member, own: OwnRows, waiting: string | undefined): DeviceStatus["phase"] {
  if (member.isPaused) return "paused";
  if (own.isWorking) return "starting";
  if (member.outcome !== undefined) return member.generation.stage === stages.rows ? "settled" : "waiting";
  return waiting === undefined ? "moving" : "waiting";
}

/** In the features' units. */
function rowsOf({ features }: Study, numbers: Float64Array): number[][] {
  const d = features.length;
  return Array.from({ length: numbers.length / d }, (_, c) =>
    features.map(({ min, max, scale }, f) => numbers[c * d + f] * scale + (min + max) / 2),
  );
}
