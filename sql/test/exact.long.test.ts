// Counts and sums of every engine are those of the kernel to the last bit, on 50 problems with up to 64 columns and clusters.

import { testExactness } from "./exact.ts";

testExactness(0, 50);
