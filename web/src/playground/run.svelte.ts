// The state of the playground: the setup, the moments that the worker has made so far, and which of them is shown.

import type { Matrix } from "@fedkm/core";
import type { PackedMoment, PackedProblem, Reply, Request } from "../engine/messages.ts";
import { addressOf, readAddress, type Setup, type StoryEvent } from "../engine/setup.ts";

/** Moments that are made ahead of the one shown. They are asked for by the dozen: each message makes the curves anew. */
const AHEAD = 24;
const LEAST_AHEAD = 12;

/** The reader's own rows, and what to call them. */
export interface OwnData {
  readonly name: string;
  readonly datasets: readonly Matrix[];
}

export class Run {
  setup: Setup = $state.raw(readAddress("").setup);
  /** The reader's files, one matrix for each device; no address can hold them. */
  own: OwnData | undefined = $state.raw();
  problem: PackedProblem | undefined = $state.raw();
  /** Of the method, and of the one beside it. */
  sides: readonly (readonly PackedMoment[])[] = $state.raw([[], []]);
  /** Which moment is shown. */
  at = $state(0);
  isPlaying = $state(false);
  /** Rounds a second. */
  speed = $state(12);
  refusal: string | undefined = $state();
  #ended = [false, false];
  #number = 0;
  #asked = 0;
  /** To be shown when it has been made. */
  #wanted = 0;
  readonly #worker: Worker;

  constructor() {
    this.#worker = new Worker(new URL("../engine/worker.ts", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#hear(data);
    this.#worker.onerror = () => {
      this.refusal = "the worker could not be started; reload the page";
    };
  }

  /** Number of moments of the longer side. */
  get length(): number {
    return Math.max(...this.sides.map((side) => side.length));
  }

  get isEnded(): boolean {
    return this.setup.versus === "none" ? this.#ended[0] : this.#ended.every(Boolean);
  }

  /** The moment that is shown of a side; a side that has ended stays at its last one. */
  moment(side: number): PackedMoment | undefined {
    const moments = this.sides[side];
    return moments[Math.min(this.at, moments.length - 1)];
  }

  /** Begins at another setup, at the moment of this round. */
  begin(setup: Setup, round = 0): void {
    this.setup = setup;
    this.sides = [[], []];
    this.refusal = undefined;
    this.problem = undefined;
    this.at = 0;
    this.#ended = [false, setup.versus === "none"];
    this.#asked = 0;
    this.#wanted = round;
    this.#number++;
    const own = setup.data === "own" ? (this.own?.datasets ?? []) : [];
    if (setup.data === "own" && own.length === 0) {
      this.refusal = "drop a CSV, JSONL or Parquet file here, or choose other data";
      return;
    }
    this.#post({ run: this.#number, setup, own });
    // The first alone: it is there at once.
    this.#ask(1);
    this.#ask(AHEAD);
    this.#keepAddress();
  }

  change(changes: Partial<Setup>): void {
    this.begin({ ...this.setup, ...changes });
  }

  /** Something happens at the round that is shown. */
  happen(event: StoryEvent): void {
    const isPlaying = this.isPlaying;
    this.begin({ ...this.setup, events: [...this.setup.events, event] }, event.round);
    this.isPlaying = isPlaying;
  }

  show(at: number): void {
    this.at = Math.max(0, Math.min(at, this.length - 1));
    if (this.at + LEAST_AHEAD > this.#asked) this.#ask(this.at + AHEAD);
    this.#keepAddress();
  }

  step(by: number): void {
    this.isPlaying = false;
    this.show(this.at + by);
  }

  toggle(): void {
    this.isPlaying = !this.isPlaying;
    if (this.isPlaying && this.isEnded && this.at >= this.length - 1) this.show(0);
  }

  /** One frame of the screen, `seconds` after the last. */
  #rest = 0;
  pass(seconds: number): void {
    if (!this.isPlaying || this.#wanted > 0) return;
    this.#rest += seconds * this.speed;
    const steps = Math.floor(this.#rest);
    this.#rest -= steps;
    if (steps === 0) return;
    const last = this.length - 1;
    this.show(Math.min(this.at + steps, last));
    if (this.isEnded && this.at >= last) this.isPlaying = false;
  }

  #post(request: Request): void {
    this.#worker.postMessage(request);
  }

  #ask(upTo: number): void {
    if (upTo <= this.#asked) return;
    this.#asked = upTo;
    this.#post({ run: this.#number, upTo });
  }

  #hear(reply: Reply): void {
    if (reply.run !== this.#number) return;
    if ("refusal" in reply) this.refusal = reply.refusal;
    else if ("problem" in reply) this.problem = reply.problem;
    else {
      const { side, moments, isEnded } = reply;
      this.#ended[side] = isEnded;
      this.sides = this.sides.map((known, number) => (number === side ? [...known, ...moments] : known));
    }
    this.#reachWanted();
  }

  /** Goes on until the moment that the address asked for is there. */
  #reachWanted(): void {
    if (this.#wanted === 0) return;
    const last = this.sides[0].at(-1);
    const isReached = (last !== undefined && last.round >= this.#wanted) || this.isEnded;
    if (!isReached) {
      this.#ask(this.sides[0].length + AHEAD);
      return;
    }
    const at = this.sides[0].findIndex(({ round }) => round >= this.#wanted);
    this.#wanted = 0;
    this.show(at === -1 ? this.length - 1 : at);
  }

  #keepAddress(): void {
    if (this.isPlaying || this.#wanted > 0) return;
    const address = addressOf(this.setup, this.moment(0)?.round ?? 0);
    history.replaceState(null, "", address === "" ? location.pathname : `#${address}`);
  }
}
