// The status of a device with shared clusters, as plain data like every other device's.

import type { Neighbour } from "../loop/neighbours.ts";
import { type DescribedStatus, type DeviceStatus, neighbourStatus, type StatusOrigin } from "../loop/status.ts";
import type { SharedPrivateRows } from "../privacy/privateRows.ts";
import { canonicalStudy, type Study } from "../study/study.ts";
import { closedStudy, closedStudyHash, unlikeRemark } from "./closedStudy.ts";
import {
  type DescriptionPlan,
  describedQuantile,
  type LocalTable,
  readDescription,
  unlikeColumns,
} from "./description.ts";
import { hasCentroids, stageNames, stages } from "./generation.ts";
import type { Member } from "./member.ts";
import { isSealed } from "./plan.ts";
import { releaseRequest } from "./release.ts";
import type { SharedRows } from "./sharedRows.ts";

interface SharedCounters {
  readonly framesSent: number;
  readonly tellings: number;
  /** Of an open study, when there is something. */
  readonly described: DescribedStatus | undefined;
}

/** What the network of an open study found out, and what follows from it; `hash`: of that study. */
export function describedStatus(
  study: Study,
  hash: string,
  plan: DescriptionPlan,
  numbers: Float64Array,
  own: LocalTable,
): Omit<DescribedStatus, "isApproved" | "isApprovedByAll"> {
  const description = readDescription(plan, numbers);
  const closed = closedStudy(study, hash, description);
  return {
    study: closed.study === undefined ? null : canonicalStudy(closed.study),
    studyHash: closed.study === undefined ? null : closedStudyHash(closed.study),
    remarks: [...closed.remarks, ...unlikeColumns(plan, description, own).map(unlikeRemark)],
    rows: description.rows,
    columns: description.columns.map((column, c) => {
      const { name } = plan.columns[c];
      const { gaps } = column;
      if (column.kind === "category") return { name, gaps, levels: column.levels, rare: column.rare };
      const quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => describedQuantile(column, share));
      return { name, gaps, mean: column.mean, deviation: Math.sqrt(column.variance), quantiles };
    }),
  };
}

export function sharedStatus(
  { study, peer, epoch, now }: StatusOrigin,
  member: Member,
  own: SharedRows,
  neighbours: readonly Neighbour[],
  { framesSent, tellings, described }: SharedCounters,
): DeviceStatus {
  const waiting = member.isMember
    ? waitingOf(study, member, own, now)
    : `is no member of the study: ${study.vouchers} members must run fedkm device admit ${peer}`;
  // Who has not answered since the start is waited for, and not away.
  const present = new Set([...member.counted, ...member.pending(now)].map((link) => link.peer));
  const { generation, closed, answer } = member;
  // The last answer counts while another one is being made.
  const found = answer ?? (own.private === undefined && hasCentroids(generation) ? generation : undefined);
  return {
    peer,
    study: study.name,
    phase: sharedPhase(member, own, waiting),
    rows: own.count,
    rowsLeftOut: own.rowsLeftOut,
    privacy: study.privacy,
    guarded: own.guarded?.status() ?? null,
    private: own.private?.status() ?? null,
    history: null,
    epoch,
    opening: 0,
    round: generation.number,
    move: null,
    threshold: 0,
    objective: null,
    drift: null,
    pulledBy: null,
    framesSent,
    neighbours: neighbours.map((neighbour) => {
      const found = neighbourStatus(neighbour, epoch, now);
      const fault = member.faultOf(neighbour.peer, now) ?? found.fault;
      return { ...found, fault, isAway: !present.has(neighbour.peer) };
    }),
    shared: {
      described: described ?? null,
      generation: generation.number,
      stage: stageNames[generation.stage],
      devices: closed?.count ?? null,
      pooledRows: closed === undefined ? null : generation.rows,
      countedLinks: member.counted.length,
      waiting: waiting ?? null,
      isImplausible: member.outcome === "implausible",
      removed: Array.from(member.books.removed, ([device, fault]) => ({ device, fault })),
      doubts: member.books.doubters.size,
      books: booksStatus(member),
      mostRows: Number.isFinite(member.mostRows) ? member.mostRows : null,
      disputed: [...member.disputed],
      suspended: member.suspended,
      members: member.members ?? null,
      leastMembers: (study.colluders ?? 1) + 2,
      tellings,
    },
    centroids: found === undefined ? null : inFeatureUnits(study, found.numbers),
  };
}

function booksStatus({ books }: Member): NonNullable<DeviceStatus["shared"]>["books"] {
  if (books.dispute === undefined) return null;
  const opened = Array.from(books.opened, ([device, rows]) => ({ device, rows }));
  return { opened, unopened: books.unopened };
}

/** Why this device posts nothing, if it does not. */
function waitingOf(study: Study, member: Member, own: SharedRows, now: number): string | undefined {
  if (own.count > member.mostRows)
    return `adds nothing: it holds ${own.count} rows, and the study allows it ${member.mostRows} (mostRows)`;
  const pending = member.pending(now).length;
  const counted = member.counted.length;
  if (pending > 0) return `waits for ${pending} of its links to answer before anything is added up`;
  const { colluders = 1, devices } = study;
  const needed = colluders + 1;
  if (counted >= needed && own.private !== undefined) return releaseWaits(member, own.private, colluders, devices ?? 0);
  if (member.isOutside && counted === 0)
    return "waits until its neighbours count it again: it has come and gone too often, and its rows are not in the answer";
  if (counted >= needed)
    return member.generation.stage === stages.described
      ? "waits until the owner of every device has approved of the closed study (see fedkm device study)"
      : undefined;
  const answering = member.answering(now);
  return answering >= needed
    ? `waits for its neighbours: of ${answering} that answer, ${counted} have links enough to take part, and it needs ${needed}`
    : `needs ${needed} links to devices that answer, and has ${answering}: with fewer its neighbours could learn its sums`;
}

/** Why private rows are not released, or nothing. */
function releaseWaits(member: Member, own: SharedPrivateRows, colluders: number, devices: number): string | undefined {
  const { generation } = member;
  const { stage } = generation;
  if (member.outcome === "few") {
    const there = member.closed?.devices.length ?? 0;
    if (there < devices && generation.steps === 0)
      return `waits until ${devices} devices are there for a release; now there are ${there}`;
    return `waits for more links among the ${there} devices: without some ${colluders} of them they would fall apart, and the sums of a part be known`;
  }
  if (stage === stages.keys && !member.isReleaseDecided)
    return `waits until enough of the ${generation.roster?.ids.length} devices have said that they hold all sums`;
  return isSealed(generation) ? own.refusal(releaseRequest(generation)) : undefined;
}

function sharedPhase(member: Member, own: SharedRows, waiting: string | undefined): DeviceStatus["phase"] {
  if (member.generation.stage === stages.approved) return "settled";
  if (own.count > member.mostRows) return "waiting";
  if (member.isPaused) return "paused";
  if (own.isWorking) return "starting";
  if (member.outcome !== undefined)
    return hasCentroids(member.generation) && member.outcome !== "few" && !member.isOutside ? "settled" : "waiting";
  return waiting === undefined ? "moving" : "waiting";
}

/** In the features' units. */
function inFeatureUnits({ features }: Study, numbers: Float64Array): number[][] {
  const d = features.length;
  return Array.from({ length: numbers.length / d }, (_, c) =>
    features.map(({ min, max, scale }, f) => numbers[c * d + f] * scale + (min + max) / 2),
  );
}
