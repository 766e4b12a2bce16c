// The elimination of admission.test.ts on 200 histories.

import "./admission.test.ts";
