// The problems of threads.test.ts, all of them.

import "./threads.test.ts";
