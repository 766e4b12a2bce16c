// Quantiles with many more problems, each time from a fresh seed.

import "./quantiles.test.ts";
