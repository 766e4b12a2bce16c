// Points in blocks of blocks.test.ts, on all of its problems.

import "./blocks.test.ts";
