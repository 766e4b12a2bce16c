// The palette as numbers, for what is painted and not styled; it follows the reader's choice of light or dark.

import type { Colour } from "./views/dots.ts";

export class Theme {
  paper = $state("");
  ink = $state("");
  quiet = $state("");
  faint = $state("");
  clusters: readonly string[] = $state.raw([]);
  links: readonly string[] = $state.raw([]);

  constructor() {
    this.#read();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#read());
  }

  #read(): void {
    const style = getComputedStyle(document.documentElement);
    const named = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => named(`${name}-${i}`));
    this.paper = named("paper");
    this.ink = named("ink");
    this.quiet = named("quiet");
    this.faint = named("faint");
    this.clusters = numbered("cluster", 8);
    this.links = numbered("link", 5);
  }
}

/** Of #rrggbb. */
export function channels(colour: string): Colour {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as unknown as Colour;
}
