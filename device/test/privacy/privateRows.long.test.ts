// Private rows of a device, with all guesses.

import "./privateRows.test.ts";
