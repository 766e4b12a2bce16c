// The rules of robust.test.ts on three thousand problems.

import "./robust.test.ts";
