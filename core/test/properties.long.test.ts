// The properties of properties.test.ts on a thousand problems each.

import "./properties.test.ts";
