// Joint steps of settling.test.ts on four hundred problems.

import "./settling.test.ts";
