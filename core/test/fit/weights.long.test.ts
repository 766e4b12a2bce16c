// Weights of weights.test.ts on two thousand problems.

import "./weights.test.ts";
