// Where the panels of devices stand: equal squares in rows, as large as the room allows.

export interface Grid {
  readonly columns: number;
  /** The side of a panel and the gap between two, in pixels of the page. */
  readonly side: number;
  readonly gap: number;
  readonly width: number;
  readonly height: number;
}

const LARGEST_SIDE = 260;
/** From here on a panel has room for its name, trails and the neighbours' centroids. */
export const LARGE_SIDE = 70;

export function gridOf(panels: number, width: number, mostHeight: number): Grid {
  let best: Grid | undefined;
  for (let columns = 1; columns <= panels; columns++) {
    const gap = panels > 60 ? 3 : 8;
    const rows = Math.ceil(panels / columns);
    const side = Math.floor(
      Math.min(LARGEST_SIDE, (width - (columns - 1) * gap) / columns, (mostHeight - (rows - 1) * gap) / rows),
    );
    if (best === undefined || side >= best.side) {
      best = { columns, side: Math.max(8, side), gap, width, height: rows * (side + gap) - gap };
    }
  }
  return best ?? { columns: 1, side: 8, gap: 0, width, height: 8 };
}

/** The upper left corner of a panel. */
export function cornerOf({ columns, side, gap }: Grid, panel: number): { readonly x: number; readonly y: number } {
  return { x: (panel % columns) * (side + gap), y: Math.floor(panel / columns) * (side + gap) };
}
