// The page docs/architecture.md as it follows from the table of rooms: pictures of who imports whom, and lists of folders.

import { type Package, packages } from "./rooms.ts";

/** So many rooms need a picture; fewer are told by their list, from the bottom up. */
const MOST_LISTED_ROOMS = 10;

/** The parts of the page that are written by this file, by the name in their markers. */
function drawnParts(): Record<string, string> {
  const parts: Record<string, string> = { packages: `${packagePicture()}\n\n${packageTable()}` };
  for (const [name, { rooms }] of Object.entries(packages)) {
    // Packages of one room are in the table of packages, and what the lab measures it lists itself.
    if (rooms === undefined || name === "lab") continue;
    const list = roomList(name, rooms);
    parts[name] = Object.keys(rooms).length < MOST_LISTED_ROOMS ? list : `${roomPicture(rooms)}\n\n${list}`;
  }
  return parts;
}

/** The page with its drawn parts as they should be. */
export function withDrawnParts(page: string): string {
  return Object.entries(drawnParts()).reduce((text, [name, drawn]) => {
    const [begin, end] = [`<!-- ${name}: drawn from test/rooms.ts -->`, `<!-- end of ${name} -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) throw new Error(`docs/architecture.md must have the lines ${begin} and ${end}`);
    return `${text.slice(0, from)}${begin}\n\n${drawn}\n\n${text.slice(to)}`;
  }, page);
}

function packagePicture(): string {
  const imports = Object.fromEntries(Object.entries(packages).map(([name, own]) => [name, own.imports]));
  return picture(imports);
}

function roomPicture(rooms: NonNullable<Package["rooms"]>): string {
  return picture(Object.fromEntries(Object.entries(rooms).map(([name, own]) => [name, own.imports ?? []])));
}

/** An arrow means "imports"; what follows from other arrows is not drawn. */
function picture(imports: Readonly<Record<string, readonly string[]>>): string {
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of imports[from] ?? []) if (!seen.has(to)) reach(to, seen.add(to));
    return seen;
  };
  const lines = Object.entries(imports).flatMap(([from, targets]) =>
    targets
      .filter((to) => !targets.some((other) => other !== to && reach(other).has(to)))
      .map((to) => `  ${label(from)} --> ${label(to)}`),
  );
  return ["```mermaid", "graph BT", ...lines, "```"].join("\n");
}

/** Mermaid takes no dot as a name. */
const label = (name: string) => (name === "." ? "index" : name);

function packageTable(): string {
  const rows = Object.entries(packages).map(([name, { holds, runs }]) => [`\`${name}\``, holds, runs]);
  return table(["folder", "what it holds", "runs in"], rows);
}

/** Each folder with what it holds; its listing is its table of contents. */
function roomList(name: string, rooms: NonNullable<Package["rooms"]>): string {
  const items = Object.entries(rooms).map(([room, { holds }]) => {
    const title = room === "." ? `\`${name}/src/\`` : `\`${room}/\``;
    return wrapped(`- ${title}: ${holds}.`);
  });
  return items.join("\n");
}

/** A list item in lines of at most 120 characters. */
function wrapped(item: string): string {
  const lines = [""];
  for (const word of item.split(" ")) {
    const last = lines[lines.length - 1];
    if (last.length > 0 && last.length + word.length >= 120) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i].length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}
