// What a program needs of this package before it reads a row: what a request may say, and what refuses it. It loads
// nothing else.

export * from "./request.ts";
export * from "./shellWords.ts";
