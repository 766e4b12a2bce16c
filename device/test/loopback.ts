// Real networks on loopback for tests: what each of them heard, and waiting for it with a bound.

import {
  type Contact,
  createIdentity,
  type Identity,
  type Libp2pNetwork,
  type Libp2pOptions,
  libp2pNetwork,
} from "../src/links/libp2pNetwork.ts";

/** What happened at one end, in order: "connect b", "frame b", "stranger b", ... */
interface Heard {
  readonly events: string[];
  readonly frames: Uint8Array[];
  /** Resolves when the event has happened so many times; rejects after 20 s. */
  happened(event: string, times?: number): Promise<void>;
}

export interface Loopback extends Heard {
  readonly network: Libp2pNetwork;
  readonly identity: Identity;
  /** Where it last met others. */
  readonly met: Libp2pOptions["peerAddresses"];
  /** As a neighbour links to it. */
  neighbour(): Contact;
}

const BOUND_MILLISECONDS = 600_000;

function heard(): Heard & { note(event: string): void } {
  const events: string[] = [];
  const frames: Uint8Array[] = [];
  const waiting = new Set<() => void>();
  return {
    events,
    frames,
    note(event) {
      events.push(event);
      for (const look of [...waiting]) look();
    },
    happened(event, times = 1) {
      return new Promise((resolve, reject) => {
        const bound = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`"${event}" did not happen ${times} times, but: ${events.slice(-20).join(", ")}`));
        }, BOUND_MILLISECONDS);
        const look = () => {
          if (events.filter((other) => other === event).length < times) return;
          clearTimeout(bound);
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/** Names of peers in events: a letter for each identity. */
export class Peers {
  readonly #names = new Map<string, string>();
  readonly #open: Libp2pNetwork[] = [];

  async identity(name: string): Promise<Identity> {
    const identity = await createIdentity();
    this.#names.set(identity.peer, name);
    return identity;
  }

  /** A network on loopback that somebody else starts. */
  make(identity: Identity, links: readonly Contact[], options: Partial<Libp2pOptions> = {}): Libp2pNetwork {
    const listen = ["/ip4/127.0.0.1/tcp/0"];
    const network = libp2pNetwork({ identity, listen, links, onStranger() {}, onRefuse() {}, ...options });
    this.#open.push(network);
    return network;
  }

  /** Listens on loopback, unless it is given where. */
  async start(identity: Identity, links: readonly Contact[], options: Partial<Libp2pOptions> = {}): Promise<Loopback> {
    const ears = heard();
    let met = options.peerAddresses;
    const name = (peer: string) => this.#names.get(peer) ?? peer;
    const network = libp2pNetwork({
      identity,
      listen: ["/ip4/127.0.0.1/tcp/0"],
      links,
      ...options,
      maxFrame: 1_000,
      // Attempts follow each other at once: what is tested is what happens, not how long it may take.
      random: () => 0.05,
      onPeerAddresses(now) {
        met = now;
        ears.note("met");
      },
      onStranger: (peer) => ears.note(`stranger ${name(peer)}`),
      onRefuse: (peer, reason) => ears.note(`refused ${name(peer)}: ${reason}`),
    });
    this.#open.push(network);
    await network.start({
      onConnect: (peer) => ears.note(`connect ${name(peer)}`),
      onDisconnect: (peer) => ears.note(`disconnect ${name(peer)}`),
      onFrame(peer, frame) {
        ears.frames.push(frame);
        ears.note(`frame ${name(peer)}`);
      },
    });
    const { events, frames, happened } = ears;
    const neighbour = () => ({ peer: identity.peer, addresses: network.addresses() });
    return {
      network,
      identity,
      events,
      frames,
      happened,
      neighbour,
      get met() {
        return met;
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((network) => network.close()));
  }
}
