// The page's side of the figures: what is asked of the worker, how centres glide to where they are next, and pointers.

import { cubicInOut } from "svelte/easing";
import { prefersReducedMotion } from "svelte/motion";
import type { Figures } from "../engine/figures.ts";
import type { FigureRequest } from "../engine/figureWorker.ts";

export type FigureData<Name extends keyof Figures> = ReturnType<Figures[Name]>;

let worker: Worker | undefined;
let asked = 0;
const waiting = new Map<number, (result: never) => void>();

export function askFigure<Name extends keyof Figures>(
  name: Name,
  ...args: Parameters<Figures[Name]>
): Promise<FigureData<Name>> {
  if (worker === undefined) {
    worker = new Worker(new URL("../engine/figureWorker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { id, result } }: MessageEvent<{ id: number; result: never }>) => {
      waiting.get(id)?.(result);
      waiting.delete(id);
    };
  }
  const id = asked++;
  worker.postMessage({ id, name, args } satisfies FigureRequest<Name>);
  return new Promise((resolve) => {
    waiting.set(id, resolve);
  });
}

/** Of a motion that takes so long, or none where the reader wants none. */
export function glide(milliseconds: number) {
  return { duration: prefersReducedMotion.current ? 0 : milliseconds, easing: cubicInOut };
}

interface Dragging {
  /** Whether something is taken hold of here. */
  readonly ongrab: (x: number, y: number) => boolean;
  readonly onmove: (x: number, y: number) => void;
  readonly onrelease?: () => void;
}

/** Of a drawing in which something can be dragged: vertical swipes elsewhere go on scrolling the page. */
export function dragging({ ongrab, onmove, onrelease }: Dragging) {
  return (node: Element) => {
    const at = ({ clientX, clientY }: PointerEvent): [number, number] => {
      const { left, top } = node.getBoundingClientRect();
      return [clientX - left, clientY - top];
    };
    let isHeld = false;
    const down = (event: Event) => {
      isHeld = ongrab(...at(event as PointerEvent));
      if (isHeld) node.setPointerCapture((event as PointerEvent).pointerId);
    };
    const move = (event: Event) => isHeld && onmove(...at(event as PointerEvent));
    const up = () => {
      if (isHeld) onrelease?.();
      isHeld = false;
    };
    const heard = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up };
    for (const [name, listener] of Object.entries(heard)) node.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of Object.entries(heard)) node.removeEventListener(name, listener);
    };
  };
}

/** The nearest of some places, by its number. */
export function nearestOf(places: readonly (readonly [number, number])[], [x, y]: readonly [number, number]): number {
  const far = places.map(([ownX, ownY]) => (ownX - x) ** 2 + (ownY - y) ** 2);
  return far.indexOf(Math.min(...far));
}
