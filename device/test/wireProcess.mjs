// Node runs this first in every process that a test starts (NODE_OPTIONS), so that its devices are looked at too.

import { register } from "node:module";

if (process.env.FEDKM_WIRE_FAULTS !== undefined) register("./wireHooks.mjs", import.meta.url);
