// The conformance suite of (E1): every engine gives the bits of the reference.

import { expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { compare } from "./compare.ts";
import { problemOf } from "./problems.ts";

// In 760 problems every number of columns meets every twist.
const PROBLEMS = runs({ short: 760, long: 10_080 });

test.each([0, 1, 2, 3])(
  `every engine answers with the bits of the reference, quarter %i of ${PROBLEMS} problems`,
  (part) => {
    const wrong: string[] = [];
    for (let number = part; number < PROBLEMS; number += 4) wrong.push(...compare(problemOf(number, testSeed)));
    expect(wrong).toEqual([]);
  },
);
