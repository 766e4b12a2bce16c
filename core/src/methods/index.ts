// The table of methods: a further one is a file beside this and a line here.

import { fit } from "../fit.ts";
import { consensus } from "./consensus.ts";
import { distributed } from "./distributed.ts";
import { local } from "./local.ts";
import type { Method } from "./method.ts";
import { pooled } from "./pooled.ts";

export const methods = { fedkm: fit, consensus, local, pooled, distributed } satisfies Record<string, Method>;
