// Private rows of devices with shared clusters, with more devices that are killed.

import "./private.test.ts";
