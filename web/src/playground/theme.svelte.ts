// The palette as values, for what is painted and not styled; it follows the reader's choice of light or dark.

import type { PanelColours } from "./views/painter.ts";

export class Theme {
  look: PanelColours = $state.raw({ paper: "", ink: "", quiet: "", faint: "", clusters: [], pointOpacity: 0 });
  links: readonly string[] = $state.raw([]);

  constructor() {
    this.#read();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#read());
  }

  #read(): void {
    const style = getComputedStyle(document.documentElement);
    const named = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => named(`${name}-${i}`));
    this.look = {
      paper: named("paper"),
      ink: named("ink"),
      quiet: named("quiet"),
      faint: named("faint"),
      clusters: numbered("cluster", 8),
      pointOpacity: Number(named("point-opacity")),
    };
    this.links = numbered("link", 5);
  }
}
