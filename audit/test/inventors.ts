// Members that invent devices: two or more of them post entries of keys that they have made up, linked to themselves, so
// that noise which all devices share seems to come from many. All pads are right, so boards close wherever these count.

import type { Contract, Study } from "@fedkm/device";
import {
  type BoardMessage,
  decodeShared,
  type Entry,
  encodeBoardMessage,
  idOf,
  maskedEntry,
  type Secrets,
  sumsShape,
  toInt64s,
} from "@fedkm/device/shared";

interface NamedDevice {
  readonly peer: string;
  readonly secrets: Secrets;
}

interface Inventors {
  readonly study: Study;
  readonly contract: Contract;
  readonly colluders: readonly NamedDevice[];
  /** Whom they are linked to. */
  readonly honest: readonly NamedDevice[];
  readonly invented: readonly NamedDevice[];
}

/** `hear` what reaches one of them; `frame` is then what each sends, in the same generation. All are in their first epoch. */
export function inventors({ study, contract, colluders, honest, invented }: Inventors) {
  const read = decodeShared(sumsShape(study));
  const partnersOf = (devices: readonly NamedDevice[]) =>
    devices.map(({ peer, secrets: { key } }) => ({ peer, id: idOf(key), epoch: 1 }));
  let heard: BoardMessage | undefined;
  let posted: { readonly hash: string; readonly entries: readonly Entry[] } = { hash: "", entries: [] };
  const entriesFor = ({ hash, integers }: BoardMessage): readonly Entry[] => {
    if (posted.hash === hash.join()) return posted.entries;
    const words = toInt64s(new Float64Array(integers));
    const entryOf = ({ secrets }: NamedDevice, partners: readonly NamedDevice[]) =>
      maskedEntry(secrets, { hash }, { epoch: 1, partners: partnersOf(partners), words });
    const others = (one: NamedDevice) => colluders.filter((other) => other !== one);
    const entries = [
      ...colluders.map((one) => entryOf(one, [...honest, ...others(one), ...invented])),
      ...invented.map((one) => entryOf(one, colluders)),
    ];
    posted = { hash: hash.join(), entries };
    return entries;
  };
  return {
    hear(frame: Uint8Array) {
      const message = read(contract, frame);
      if (message.kind === "board") heard = message;
    },
    /** Undefined: they have heard nothing yet. */
    frame(stamp: BoardMessage["stamp"]): Uint8Array | undefined {
      if (heard === undefined) return undefined;
      const flags = { isAsking: false, isDropped: false, isIdle: false, wantsOpening: false };
      const entries = entriesFor(heard);
      const have = entries.map(({ mark }) => mark);
      return encodeBoardMessage(contract, { ...heard, ...flags, base: undefined, stamp, knows: 1, have, entries });
    },
  };
}
