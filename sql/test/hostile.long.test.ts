// The hostile names at their full number.

import "./hostile.test.ts";
