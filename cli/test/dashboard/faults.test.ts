// The dashboard never looks calm during a fault: five devices as processes, in Chromium.

import { testFaults } from "./faults.ts";

testFaults(5);
