// Ticks of many more axes, each time from a fresh seed.

import "./ticks.test.ts";
