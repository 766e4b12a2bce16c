// What a program needs of this package before it reads a row: what a request may say, and what refuses it. It loads
// nothing else.

export { dialectNames, formats } from "./export/formats.ts";
export { couplings, inits, penalties, presets, privacies, RequestError, schedules } from "./request.ts";
export { characterNames, joinedNames, shellNames, shellWord } from "./shellWords.ts";
