export declare function parseSeed(text: string): number;
export declare function parsePicture(file: string): string;
/** A whole number within bounds, of the option that is named. */
export declare function parseWhole(option: string, least: number, most?: number): (text: string) => number;
export declare function parseAtLeastZero(option: string): (text: string) => number;
/** One of some words, which the parser also has as `choices`: completion offers them. */
export declare function parseChoice<T extends string>(
  option: string,
  choices: readonly T[],
): ((text: string) => T) & {
  choices: readonly T[];
};
/** Names with commas between; a name with a comma in it stands in quotes. */
export declare function parseNames(text: string): string[];
/** How a command line names the character: some cannot be pasted into one. */
export declare function characterName(character: string): string;
/** A character or its name, of the option that is named. */
export declare function parseCharacter(option: string): ((text: string) => string) & {
  choices: string[];
};
