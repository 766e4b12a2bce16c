// The program of a stranger that wants a relay to relay: for itself, and to a device behind it. Prints what it got.

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createIdentity, libp2pNetwork } from "@fedkm/device/libp2p";

/** What it prints, as JSON. */
export interface StrangersLuck {
  readonly reservations: number;
  readonly circuits: number;
  readonly failure: string;
}

const SECONDS = 8;
const text = { type: "string", default: "" } as const;
const { values } = parseArgs({ options: { relay: text, address: text, target: text } });

let circuits = 0;
const network = libp2pNetwork({
  identity: await createIdentity(),
  listen: [],
  links: [
    { peer: values.relay, addresses: [values.address] },
    { peer: values.target, addresses: [`/p2p/${values.relay}/p2p-circuit`] },
  ],
  onStranger: () => {},
  onRefuse: () => {},
});
await network.start({ onConnect: () => (circuits += 1), onDisconnect: () => {}, onFrame: () => {} });
let reservations = 0;
for (let second = 0; second < SECONDS; second++) {
  await pause(1_000);
  reservations = Math.max(reservations, network.addresses().length);
}
const luck: StrangersLuck = { reservations, circuits, failure: network.traffic(values.relay)?.failure ?? "" };
process.stdout.write(JSON.stringify(luck));
await network.close();
