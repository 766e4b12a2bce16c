// The dashboard never looks calm during a fault: forty devices as processes, in Chromium.

import { testFaults } from "./faults.ts";

testFaults(40);
