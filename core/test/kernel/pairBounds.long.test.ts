// The problems of pairBounds.test.ts, all of them.

import "./pairBounds.test.ts";
