// The properties of update.test.ts on a thousand problems each.

import "./update.test.ts";
