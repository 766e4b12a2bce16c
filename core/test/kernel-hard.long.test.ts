// The larger problems of kernel-hard.test.ts, all of them.

import "./kernel-hard.test.ts";
