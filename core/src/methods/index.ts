// The table of methods: a further one is a file beside this and a line here.

import { backbone } from "./backbone.ts";
import { consensus } from "./consensus.ts";
import { coreset } from "./coreset.ts";
import { distributed } from "./distributed.ts";
import { fedkm } from "./fedkm.ts";
import { fkm } from "./fkm.ts";
import { gradient } from "./gradient.ts";
import { kfed } from "./kfed.ts";
import { local } from "./local.ts";
import type { Method } from "./method.ts";
import { pooled } from "./pooled.ts";

export const methods = {
  fedkm,
  consensus,
  local,
  pooled,
  distributed,
  gradient,
  coreset,
  backbone,
  kfed,
  fkm,
} satisfies Record<string, Method>;
