// All twenty sets of winners.test.ts.

import "./winners.test.ts";
