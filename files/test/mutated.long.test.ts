// The damaged files of mutated.test.ts, five thousand of them.

import "./mutated.test.ts";
