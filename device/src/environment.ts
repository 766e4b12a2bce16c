// Time as a device sees it: how long something takes, never what o'clock it is. A stepped wall clock changes nothing here.

export interface Clock {
  /** Milliseconds since some moment in the past; never goes back. */
  now(): number;
  /** Runs once, after this many milliseconds, unless the returned function is called before. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The longest a platform timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** The machine's monotonic clock. */
export const realClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, milliseconds), LONGEST_TIMER_MILLISECONDS));
    return () => clearTimeout(timer);
  },
};
