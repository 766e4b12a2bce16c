import type { DataError, DialectOptions } from "@fedkm/files";
/** One line that says what is wrong with a file, and what to type or to change. */
export declare function refusalLine(error: DataError): string;
/** Names as one argument of a command line: commas between, names with a comma in quotes, all of it in the shell's. */
export declare function asArgument(names: readonly string[]): string;
/** As a command takes several names. */
export declare function joinedNames(names: readonly string[]): string;
/** One word of a command line. */
export declare function inShell(text: string): string;
/** Numbers such as 1,000 look like both. */
export declare function commaRemedy(commas: string): string;
/** How text is read, as it was asked for. */
export declare function dialectWords(options: DialectOptions): string[];
