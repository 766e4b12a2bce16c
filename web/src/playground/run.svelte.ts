// The state of the playground: the setup, the moments that the worker has made so far, and which of them is shown.

import type { Matrix } from "@fedkm/core";
import type { EngineReply, EngineRequest, PackedMoment, PackedProblem } from "../engine/messages.ts";
import { type Setup, type StoryEvent, setupAddress, setupFromAddress } from "../engine/setup.ts";
import type { OwnData } from "./own.ts";

/** Moments that are made ahead of the one shown. They are asked for by the dozen: each message makes the curves anew. */
const AHEAD = 24;
const LEAST_AHEAD = 12;
/** Milliseconds that a worker may go on with what nobody wants any more. */
const PATIENCE = 300;

/** The number of an entry of the browser's history; the first has none. */
function stepOf(state: unknown): number {
  return (state as { readonly step?: number } | null)?.step ?? 0;
}

/** Where the run was at this round, -1 if that is not known yet: settled, it has no moments until something happens. */
function momentAt(moments: readonly PackedMoment[], round: number, isEnded: boolean): number {
  const behind = moments.findIndex((moment) => moment.round > round);
  if (behind !== -1) return Math.max(0, behind - 1);
  return isEnded || moments.at(-1)?.round === round ? moments.length - 1 : -1;
}

interface Coming {
  /** Where it is to be shown; Infinity is the end. */
  readonly round: number;
  readonly since: number;
  readonly problem: PackedProblem | undefined;
  readonly sides: readonly (readonly PackedMoment[])[];
}

export class Run {
  setup: Setup = $state.raw(setupFromAddress("").setup);
  /** The reader's files, one matrix for each device; no address can hold them. */
  own: OwnData | undefined = $state.raw();
  problem: PackedProblem | undefined = $state.raw();
  /** Of the method, and of the one beside it. */
  sides: readonly (readonly PackedMoment[])[] = $state.raw([[], []]);
  at = $state(0);
  isPlaying = $state(false);
  /** Rounds a second. */
  speed = $state(12);
  refusal: string | undefined = $state();
  /** What was asked for last; files of the reader may come later than that. */
  wantedRound = 0;
  #ended = [false, false];
  #number = 0;
  #asked = 0;
  #coming: Coming | undefined = $state.raw();
  /** Whether the end is to be shown and is not there yet: until then it is the latest moment. */
  #isFollowing = false;
  /** Of the moment that is shown, until the reader goes to another one: a run that has settled may be at an earlier one. */
  #askedRound: number | undefined;
  /** What is shown, to return to: setup, files and ends are already those of the coming run. */
  #shown: { readonly setup: Setup; readonly own: OwnData | undefined; readonly ended: boolean[] } | undefined;
  /** Of each side, how many moments are known that a new worker has still to make again. */
  #known = [0, 0];
  #worker = this.#newWorker();
  #impatience: ReturnType<typeof setTimeout> | undefined;

  #newWorker(): Worker {
    const worker = new Worker(new URL("../engine/worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<EngineReply>) => this.#hear(data);
    worker.onerror = () => {
      this.refusal = "the worker could not be started; reload the page";
    };
    return worker;
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

  /** Whether another run than the one that is shown is being made. */
  get isComing(): boolean {
    return this.#coming !== undefined;
  }

  /** Begins at another setup, at the moment of this round. What is shown stays until there is something else to show. */
  begin(setup: Setup, round = 0): void {
    const isBusy = this.#isBusy;
    clearTimeout(this.#impatience);
    this.setup = setup;
    this.wantedRound = round;
    this.refusal = undefined;
    this.#isFollowing = false;
    this.#askedRound = undefined;
    this.#coming = { round, since: performance.now(), problem: undefined, sides: [[], []] };
    this.#known = [0, 0];
    this.#ended = [false, setup.versus === "none"];
    this.#number++;
    const own = setup.data === "own" ? (this.own?.datasets ?? []) : [];
    if (setup.data === "own" && own.length === 0) {
      this.#refuse(this.own?.refusal ?? "drop a file here (CSV, JSON, Parquet, Excel, NumPy), or choose other data");
      return;
    }
    this.#send(own);
    // A worker reads no message while it computes: one that is slow with an earlier run is ended.
    if (isBusy) this.#impatience = setTimeout(() => this.#restart(own), PATIENCE);
    this.#keepAddress();
  }

  /** What can be undone and redone: entries of the browser's history, so that its Back and Forward do the same. */
  past = $state(stepOf(history.state));
  newest = $state(stepOf(history.state));
  /** Of the last change: one that goes on, as when a slider is drawn, is undone at once. */
  #changed = "";

  /** Another entry of the history, unless the same is changed again. */
  #remember(names: string): void {
    const isSame = names !== "" && names === this.#changed;
    this.#changed = names;
    if (isSame) return;
    this.past++;
    this.newest = this.past;
    history.pushState({ step: this.past }, "");
  }

  /** The browser has gone to another entry. */
  travelled(): void {
    this.past = stepOf(history.state);
    this.#changed = "";
  }

  /** Back to what is shown, at once: a new worker makes again in silence what is known, and goes on from there. */
  cancel(): void {
    if (!this.isComing || this.#shown === undefined) return;
    const { setup, own, ended } = this.#shown;
    clearTimeout(this.#impatience);
    this.#coming = undefined;
    this.setup = setup;
    this.own = own;
    this.#ended = ended;
    this.#number++;
    this.#known = this.sides.map(({ length }) => length);
    this.#restart(setup.data === "own" ? (own?.datasets ?? []) : []);
    this.#ask(this.at + AHEAD);
    this.#keepAddress();
  }

  get #isBusy(): boolean {
    const isMissing = (side: number) => !this.#ended[side] && this.sides[side].length < this.#asked;
    return this.isComing || this.#known.some((count) => count > 0) || isMissing(0) || isMissing(1);
  }

  #send(own: readonly Matrix[]): void {
    this.#worker.postMessage({ run: this.#number, setup: this.setup, own } satisfies EngineRequest);
    this.#asked = 0;
    this.#ask(AHEAD);
  }

  #restart(own: readonly Matrix[]): void {
    this.#worker.terminate();
    this.#worker = this.#newWorker();
    this.#send(own);
  }

  /**
   * With other data or another network from the first round on; else at the same round, so that the change is seen. At the
   * first round nobody has been pulled yet: there alpha shows the end.
   */
  change(changes: Partial<Setup>): void {
    const isNew = (["data", "devices", "points", "seed", "graph", "density"] as const).some((name) => name in changes);
    const round = "alpha" in changes && this.#round === 0 ? Number.POSITIVE_INFINITY : this.#round;
    this.#remember(Object.keys(changes).join());
    this.begin({ ...this.setup, ...changes }, isNew ? 0 : round);
  }

  /** A stop of the tour, or any other setup at a round. */
  visit(setup: Setup, round: number): void {
    this.isPlaying = false;
    this.#remember("");
    this.begin(setup, round);
  }

  happen(event: StoryEvent): void {
    this.#remember("");
    this.begin({ ...this.setup, events: [...this.setup.events, event] }, event.round);
  }

  show(at: number): void {
    if (this.isComing) return;
    this.#isFollowing = false;
    this.#askedRound = undefined;
    this.#showMoment(at);
  }

  #showMoment(at: number): void {
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
    this.#keepAddress();
  }

  /** One frame of the screen, `seconds` after the last. */
  #rest = 0;
  pass(seconds: number): void {
    if (!this.isPlaying || this.isComing) return;
    this.#rest += seconds * this.speed;
    const steps = Math.floor(this.#rest);
    this.#rest -= steps;
    if (steps === 0) return;
    const last = this.length - 1;
    this.show(Math.min(this.at + steps, last));
    if (!this.isEnded || this.at < last) return;
    this.isPlaying = false;
    this.#keepAddress();
  }

  /** Where the reader stands, or is going to. */
  get #round(): number {
    if (this.#isFollowing || (!this.isComing && this.isEnded && this.at >= this.length - 1)) {
      return Number.POSITIVE_INFINITY;
    }
    return this.#coming?.round ?? this.#askedRound ?? this.moment(0)?.round ?? 0;
  }

  #ask(upTo: number): void {
    if (upTo <= this.#asked) return;
    this.#asked = upTo;
    this.#worker.postMessage({ upTo } satisfies EngineRequest);
  }

  #hear(reply: EngineReply): void {
    if (reply.run !== this.#number) return;
    clearTimeout(this.#impatience);
    if ("refusal" in reply) {
      this.#refuse(reply.refusal);
      return;
    }
    const { side, moments, isEnded, problem } = reply;
    if (isEnded) this.#ended[side] = true;
    const repeated = Math.min(this.#known[side], moments.length);
    this.#known[side] -= repeated;
    if (isEnded) this.#known[side] = 0;
    const added = (known: readonly PackedMoment[], number: number) =>
      number === side ? [...known, ...moments.slice(repeated)] : known;
    if (this.#coming === undefined) {
      this.sides = this.sides.map(added);
      if (this.#isFollowing) this.#follow();
    } else {
      const { sides, problem: known } = this.#coming;
      this.#coming = { ...this.#coming, problem: problem ?? known, sides: sides.map(added) };
      this.#showComing();
    }
  }

  /** When all that it takes to show the asked moment is there. */
  #showComing(): void {
    if (this.#coming?.problem === undefined) return;
    const { problem, sides, round, since } = this.#coming;
    const [first, second] = sides;
    if (first.length === 0 || (this.setup.versus !== "none" && second.length === 0)) return;
    const isEnd = round === Number.POSITIVE_INFINITY;
    const at = momentAt(first, round, this.#ended[0]);
    const isLate = performance.now() - since > PATIENCE;
    if (isEnd ? !this.isEnded && !isLate : at === -1) {
      this.#ask(Math.max(...sides.map(({ length }) => length)) + AHEAD);
      return;
    }
    this.problem = problem;
    this.sides = sides;
    this.#coming = undefined;
    this.#shown = { setup: this.setup, own: this.own, ended: this.#ended };
    if (isEnd) {
      this.#follow();
      return;
    }
    this.#askedRound = round;
    this.#showMoment(at);
  }

  #follow(): void {
    this.#isFollowing = !this.isEnded;
    this.#showMoment(this.length - 1);
  }

  #refuse(words: string): void {
    this.refusal = words;
    this.#coming = undefined;
    this.#shown = undefined;
    this.problem = undefined;
    this.sides = [[], []];
    this.at = 0;
    this.isPlaying = false;
  }

  #keepAddress(): void {
    if (this.isPlaying) return;
    const address = setupAddress(this.setup, this.#round);
    // Without any setting the page opens at its first stop.
    history.replaceState(history.state, "", `#${address === "" ? `data=${this.setup.data}` : address}`);
  }
}
