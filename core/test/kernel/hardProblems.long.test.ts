// The larger problems of kernel-hard.test.ts, all of them.

import "./hardProblems.test.ts";
