// The dashboard never looks calm during a fault: real devices as processes, in Chromium. By hand on more of them, and held to
// the time in which a fault must be named: FEDKM_FAULTY_DEVICES=40 npx vitest run cli/test/dashboard/faults.test.ts

import { testFaults } from "./faults.ts";

const asked = process.env.FEDKM_FAULTY_DEVICES;
testFaults(Number(asked ?? 5), asked !== undefined);
