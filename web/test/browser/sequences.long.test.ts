// The same, with all of its sequences.

import "./sequences.test.ts";
