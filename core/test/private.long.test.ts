// The properties of private.test.ts on a thousand problems each.

import "./private.test.ts";
