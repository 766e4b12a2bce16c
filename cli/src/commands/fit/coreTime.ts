// How long the library computes while a command runs. Where two processes do so at once, that time counts once.

/** From when until when, in milliseconds of a clock that all processes of a machine share. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface CoreTime {
  measure<T>(work: () => T | Promise<T>): Promise<T>;
  /** What another process has measured. */
  add(span: Span): void;
  /** So far. */
  milliseconds(): number;
}

export function coreTime(now = () => performance.timeOrigin + performance.now()): CoreTime {
  const spans: Span[] = [];
  return {
    async measure(work) {
      const from = now();
      try {
        return await work();
      } finally {
        spans.push({ from, to: now() });
      }
    },
    add: (span) => void spans.push(span),
    milliseconds() {
      let [sum, end] = [0, Number.NEGATIVE_INFINITY];
      for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
        sum += Math.max(0, to - Math.max(from, end));
        end = Math.max(end, to);
      }
      return sum;
    },
  };
}
