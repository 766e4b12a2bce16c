// The dashboard never looks calm during a fault: real devices as processes, in Chromium. They take more of a machine than a
// test may that runs beside others, so they run by hand: FEDKM_FAULTY_DEVICES=5 npx vitest run cli/test/dashboard/faults.test.ts

import { test } from "vitest";
import { testFaults } from "./faults.ts";

const devices = Number(process.env.FEDKM_FAULTY_DEVICES ?? 0);
if (devices > 0) testFaults(devices);
else test.skip("faults of real devices on the page: FEDKM_FAULTY_DEVICES=5 runs them");
