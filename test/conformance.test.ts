// One request, one answer: every request goes through every door that takes it and gives the same bits, or the reason for
// a difference stands beside the door or the request. test/conformance/ has both.

import { matchCentroids, matrix } from "@fedkm/core";
import { afterAll, describe, expect, it } from "vitest";
import { type Answer, byTables, type Door, doors, python, removeFiles, STUDY_DIFFERS } from "./conformance/doors.ts";
import { nameOf, type Request, requests } from "./conformance/requests.ts";

afterAll(removeFiles);

/** Shares of the largest coordinate, within which centroids are equal whose bits differ. */
const WITHIN_SOURCES = 1e-9;
const WITHIN_STUDY = 1e-4;
/** Of an objective: the order in which losses are added up. */
const ROUNDING = 1e-12;

/** What a function returned to the same argument before. */
function once<A, B>(compute: (argument: A) => B): (argument: A) => B {
  const known = new Map<A, B>();
  return (argument) => {
    if (!known.has(argument)) known.set(argument, compute(argument));
    return known.get(argument) as B;
  };
}

const answerOfTables = once((request: Request) => byTables(request));
const answersOf = once((door: Door) => door.ask(requests));

async function answerOf(door: Door, request: Request): Promise<Answer> {
  const answer = (await answersOf(door))[requests.indexOf(request)];
  if (answer instanceof Error) throw new Error(nameOf(request), { cause: answer });
  return answer;
}

/** An answer with its clusters in the order of another, by their centroids on all devices. */
function inOrderOf(answer: Answer, { centroids: others }: Answer): Answer {
  const joined = (own: Answer["centroids"]) => matrix(own[0].map((_, c) => own.flatMap((device) => device[c])));
  const places = Array.from(matchCentroids(joined(others), joined(answer.centroids)));
  const ordered = <T>(own: readonly T[]) => places.map((c) => own[c]);
  return {
    ...answer,
    centroids: answer.centroids.map(ordered),
    sizes: answer.sizes.map(ordered),
    ...(answer.labels && { labels: answer.labels.map((own) => own.map((label) => places.indexOf(label))) }),
  };
}

const twelveDigits = (value: unknown) =>
  JSON.stringify(value, (_, x) => (typeof x === "number" ? x.toPrecision(12) : x));

/** Labels and sizes are equal, and centroids within a share of the largest coordinate. */
function expectNear(answer: Answer, expected: Answer, within: number, name: string): void {
  const { centroids, objective, penalty, ...whole } = inOrderOf(answer, expected);
  expect({ ...expected, ...whole }, name).toEqual(expected);
  const [own, others] = [centroids.flat(2), expected.centroids.flat(2)];
  const largest = Math.max(...others.map(Math.abs));
  expect(Math.max(...own.map((x, i) => Math.abs(x - others[i]))) / largest, name).toBeLessThan(within);
  if (penalty !== undefined) expect(twelveDigits(penalty), name).toBe(twelveDigits(expected.penalty));
  // Near its least value an objective differs by the square.
  expect(Math.abs(objective / expected.objective - 1), name).toBeLessThan(Math.max(within ** 2, ROUNDING));
}

it("there are at least 70 requests, all different", () => {
  expect(new Set(requests.map(nameOf)).size).toBe(requests.length);
  expect(requests.length).toBeGreaterThanOrEqual(70);
});

for (const [name, door] of Object.entries(doors) as [keyof typeof doors, Door][]) {
  const taken = requests.filter((request) => door.declines(request) === undefined);
  const declined = requests.filter((request) => door.declines(request) !== undefined);

  describe.skipIf(name === "python" && python === undefined)(`the door ${name}`, () => {
    const how = door.differs === undefined ? "the bits" : "the clusters";
    it(`gives ${how} of fitTables to ${taken.length} of ${requests.length} requests`, async () => {
      for (const request of taken) {
        const [answer, expected] = [await answerOf(door, request), await (door.expected ?? answerOfTables)(request)];
        if (door.differs === undefined) expect({ ...expected, ...answer }, nameOf(request)).toEqual(expected);
        else expectNear(answer, expected, request.inSources?.within ?? WITHIN_SOURCES, nameOf(request));
      }
    });

    if (!door.refuses) return;
    it(`refuses the other ${declined.length}`, async () => {
      const answers = await answersOf(door);
      for (const request of declined) {
        const answer = answers[requests.indexOf(request)];
        expect(answer, `${nameOf(request)}: ${door.declines(request)}`).toBeInstanceOf(Error);
      }
    });
  });
}

it("the devices of a study reach what fit reaches", async () => {
  for (const request of requests.filter((own) => doors.study.declines(own) === undefined)) {
    const [answer, expected] = [await answerOf(doors.study, request), await answerOfTables(request)];
    const { within = WITHIN_STUDY, because = STUDY_DIFFERS } = request.inStudy ?? {};
    expectNear(answer, expected, within, `${nameOf(request)}: ${because}`);
  }
});
