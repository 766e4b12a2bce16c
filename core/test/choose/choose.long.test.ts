// choose on all problems.

import "./choose.test.ts";
