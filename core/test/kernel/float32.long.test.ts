// Points in float32 of float32.test.ts, on all of its problems.

import "./float32.test.ts";
