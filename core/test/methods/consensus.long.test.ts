// The property of consensus.test.ts on a thousand problems.

import "./consensus.test.ts";
