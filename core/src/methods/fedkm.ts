// Algorithm 1 in the table of methods: the same function as `fit`, with what may be set of it by name.

import { couplings } from "../coupling.ts";
import { fit } from "../fit.ts";
import { penalties } from "../penalty.ts";
import { settableStart } from "./method.ts";

export const fedkm = Object.assign(fit, {
  settable: {
    ...settableStart,
    preset: ["paper", "dependable"],
    schedule: ["cyclic", "random", "coloured", "simultaneous"],
    coupling: couplings,
    weighting: ["device", "sample"],
    penalty: penalties,
    passes: ["number"],
    relaxation: ["number", "auto"],
    damping: ["number"],
    safeguard: ["true", "false"],
    candidates: ["true", "false"],
    freshStarts: ["number"],
  },
});
