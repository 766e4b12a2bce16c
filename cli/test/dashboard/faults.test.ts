// The dashboard never looks calm during a fault: five devices as processes, in Chromium.

import { testFaults } from "./faults.ts";

// More of them take more of a machine than a test may: FEDKM_FAULTY_DEVICES=40 is for a run by hand.
testFaults(Number(process.env.FEDKM_FAULTY_DEVICES ?? 5));
