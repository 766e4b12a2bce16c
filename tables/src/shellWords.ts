// Names of columns as one word of a command line: sentences about options quote what can be pasted.

/** Names as one argument of a command line: commas between, names with a comma in quotes, all of it in the shell's. */
export function shellNames(names: readonly string[]): string {
  return shellWord(joinedNames(names));
}

/** As an option takes several names. */
export function joinedNames(names: readonly string[]): string {
  return names.map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(",");
}

/** One word of a command line. */
export function shellWord(text: string): string {
  return /^[\w./,:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Characters that a shell makes hard to write, by their names. */
export const characterNames: Readonly<Record<string, string>> = {
  comma: ",",
  semicolon: ";",
  tab: "\t",
  bar: "|",
  space: " ",
  point: ".",
  apostrophe: "'",
};

/** How a command line names the character: some cannot be pasted into one. */
export function shellCharacterName(character: string): string {
  return Object.keys(characterNames).find((name) => characterNames[name] === character) ?? character;
}
