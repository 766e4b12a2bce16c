// The properties of releases.test.ts on a thousand problems each.

import "./releases.test.ts";
