// The rules of robustPull.test.ts on three thousand problems.

import "./robustPull.test.ts";
