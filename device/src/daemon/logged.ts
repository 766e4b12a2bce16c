// The network of a daemon, with a line in the log for each link that comes and goes.

import type { PeerNetwork } from "../network.ts";
import type { Log } from "./notices.ts";

export function loggedNetwork(network: PeerNetwork, log: Log, nameOf: (peer: string) => string): PeerNetwork {
  return {
    self: network.self,
    start: (listener) =>
      network.start({
        onFrame: (peer, frame) => listener.onFrame(peer, frame),
        onConnect(peer) {
          log.info({ link: nameOf(peer) }, "connected");
          listener.onConnect(peer);
        },
        onDisconnect(peer) {
          log.info({ link: nameOf(peer) }, "disconnected");
          listener.onDisconnect(peer);
        },
      }),
    send: (peer, frame) => network.send(peer, frame),
    close: () => network.close(),
  };
}
