// Penalties of penalty.test.ts on six hundred problems.

import "./penalty.test.ts";
