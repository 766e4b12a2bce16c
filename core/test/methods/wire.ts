// Exchanges acted out message by message, with a counter around every one: what the reported traffic is held to.

import type { Graph } from "@fedkm/core";

export interface Wire {
  messages: number;
  bytes: number;
}

/** One message of some numbers from a device to some of its neighbours; every link carries it once. */
function send(wire: Wire, to: ArrayLike<number>, numbers: number): void {
  if (to.length === 0) return;
  wire.messages++;
  wire.bytes += to.length * numbers * 8;
}

/** Every device tells its neighbours. */
export function tell(wire: Wire, { neighbours }: Graph, numbers: number): void {
  for (const row of neighbours) send(wire, row, numbers);
}

/** Every device tells one of its neighbours. */
export function tellOne(wire: Wire, { neighbours }: Graph, numbers: number): void {
  for (const row of neighbours) send(wire, row.slice(0, 1), numbers);
}

/** One device tells one other. */
export function handOver(wire: Wire, numbers: number): void {
  send(wire, [0], numbers);
}

/** Every device passes on what it has just learned, all news in one message, until nobody learns anything. */
export function flood(wire: Wire, { size, neighbours }: Graph, numbers: readonly number[]): void {
  const known = Array.from({ length: size }, (_, i) => new Set([i]));
  let news = Array.from({ length: size }, (_, i) => (numbers[i] > 0 ? [i] : []));
  while (news.some((own) => own.length > 0)) {
    const heard = Array.from({ length: size }, (): number[] => []);
    news.forEach((own, i) => {
      if (own.length === 0) return;
      send(
        wire,
        neighbours[i],
        own.reduce((sum, source) => sum + numbers[source], 0),
      );
      for (const j of neighbours[i]) {
        for (const source of own) {
          if (known[j].has(source)) continue;
          known[j].add(source);
          heard[j].push(source);
        }
      }
    });
    news = heard;
  }
}

/** Everyone with something to send sends it straight to the collector, which answers all of them in one message. */
export function collect(wire: Wire, numbers: readonly number[], answer: number): void {
  for (const own of numbers) if (own > 0) send(wire, [0], own);
  send(wire, numbers, answer);
}

/** From the lowest device of every component a tree is asked downwards; parts go up, the sum comes down. */
export function addUp(wire: Wire, { size, neighbours }: Graph, numbers: number): void {
  const seen = new Set<number>();
  for (let root = 0; root < size; root++) {
    if (seen.has(root)) continue;
    seen.add(root);
    const children = new Map<number, number[]>();
    const order = [root];
    for (const device of order) {
      const own = Array.from(neighbours[device]).filter((j) => !seen.has(j));
      for (const j of own) seen.add(j);
      children.set(device, own);
      order.push(...own);
    }
    // Everyone but the root tells its parent; then every parent tells all its children at once.
    for (const device of order) if (device !== root) send(wire, [device], numbers);
    for (const own of children.values()) send(wire, own, numbers);
  }
}
