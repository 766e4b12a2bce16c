// The conformance suite of engines.test.ts on all of its problems.

import "./engines.test.ts";
