// The worker of the article: it computes what figures ask for, one after the other.

import { type Figures, figures } from "./figures.ts";

export interface FigureRequest<Name extends keyof Figures = keyof Figures> {
  readonly id: number;
  readonly name: Name;
  readonly args: Parameters<Figures[Name]>;
}

addEventListener("message", ({ data: { id, name, args } }: MessageEvent<FigureRequest>) => {
  const compute = figures[name] as (...given: unknown[]) => unknown;
  postMessage({ id, result: compute(...args) });
});
