// All twenty sets of standings.test.ts.

import "./standings.test.ts";
