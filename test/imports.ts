// The import graph of the sources: who names whom, types included, and where the graph runs in circles.

import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

export const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

/** The TypeScript files and Svelte components below a folder, as paths from the root. */
export function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|svelte)$/.test(file))
    .map((file) => posix.join(folder, file.replaceAll("\\", "/")));
}

/** Module names a file imports; with `types: false`, only those it needs when it runs. */
export function imports(file: string, { types }: { types: boolean }): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|import\("([^"]+)"\)/gm,
  );
  return Array.from(statements)
    .filter(([, typeOnly]) => types || typeOnly === undefined)
    .map(([, , from, bare, dynamic]) => from ?? bare ?? dynamic);
}

/** File -> the files of the same workspace that it imports, types included. */
export function importGraph(files: readonly string[]): Map<string, string[]> {
  return new Map(
    files.map((file) => {
      const own = imports(file, { types: true }).filter((name) => name.startsWith("."));
      return [file, own.map((name) => posix.join(posix.dirname(file), name))];
    }),
  );
}

/** Files beside the folders of a package that import from these: its entries. */
export const ROOF = "(entries)";

/** Folder of a package -> the other folders of it that are imported from there; `.` is the foundation beside them. */
export function roomGraph(name: string): Map<string, Set<string>> {
  const graph = importGraph(sources(`${name}/src`));
  const folderOf = (file: string) => file.slice(`${name}/src/`.length).split("/").slice(0, -1)[0];
  const isRoof = (file: string): boolean =>
    folderOf(file) === undefined &&
    (graph.get(file) ?? []).some((target) => folderOf(target) !== undefined || isRoof(target));
  const roomOf = (file: string) => folderOf(file) ?? (isRoof(file) ? ROOF : ".");
  const rooms = new Map<string, Set<string>>();
  for (const [file, targets] of graph) {
    const room = roomOf(file);
    const others = targets.map(roomOf).filter((other) => other !== room);
    rooms.set(room, new Set([...(rooms.get(room) ?? []), ...others]));
  }
  return rooms;
}

/** Groups of files that can all reach each other: each is at least one cycle. */
export function cycles(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  // Tarjan's algorithm: a file closes a group if nothing below it leads to a file that was entered before.
  const enter = (file: string): number => {
    order.set(file, order.size);
    open.push(file);
    let low = order.get(file) ?? 0;
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, enter(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? 0);
    }
    lowest.set(file, low);
    if (low === order.get(file)) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1 || new Set(graph.get(file)).has(file)) found.push(group);
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) enter(file);
  return found;
}
