// The same, with all of its pages.

import "./docs.test.ts";
