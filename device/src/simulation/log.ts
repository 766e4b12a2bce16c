// What happened in a simulation, event by event. Two runs are the same exactly if their digests are.

type EventKind = "start" | "connect" | "disconnect" | "arrive" | "lose" | "crash";

export interface SimulatedEvent {
  /** Milliseconds of simulated time. */
  readonly at: number;
  readonly kind: EventKind;
  readonly from: number;
  readonly to: number;
  /** The frame that arrived or was lost. */
  readonly frame: Uint8Array;
}

export interface EventLog {
  note(kind: EventKind, from: number, to?: number, frame?: Uint8Array): void;
  /** Number and 64-bit hash of all events so far: times, devices and every byte of every frame. */
  digest(): string;
}

const kinds: readonly EventKind[] = ["start", "connect", "disconnect", "arrive", "lose", "crash"];
const nothing = new Uint8Array(0);

export function eventLog(now: () => number, onEvent?: (event: SimulatedEvent) => void): EventLog {
  let count = 0;
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  const numbers = new Float64Array(4);
  const bytes = new Uint8Array(numbers.buffer);
  const absorb = (data: Uint8Array) => {
    for (let i = 0; i < data.length; i++) {
      high = Math.imul(high ^ data[i], 0x01000193);
      low = Math.imul((low << 5) | (low >>> 27), 0x85ebca6b) ^ data[i];
    }
  };
  return {
    note(kind, from, to = from, frame = nothing) {
      count++;
      numbers.set([now(), kinds.indexOf(kind), from, to]);
      absorb(bytes);
      absorb(frame);
      onEvent?.({ at: numbers[0], kind, from, to, frame });
    },
    digest: () => `${count} ${[high, low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("")}`,
  };
}
