// The conformance suite of kernel.test.ts on all of its problems.

import "./kernel.test.ts";
