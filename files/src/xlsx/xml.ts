// XML as workbooks hold it, tag by tag. It has no entities but those of the standard, and nothing in it is looked up elsewhere.

import { DataError, type FilePosition, shownInRefusal } from "../source/refusal.ts";

interface XmlUser {
  /** Names are without prefixes; attributes are as they stand there. */
  open?(name: string, attributes: string): void;
  close?(name: string): void;
  text?(text: string): void;
}

const PIECE = 2 ** 20;
/** Of one tag or one text. */
const MOST_LETTERS = 2 ** 22;

export function readXml(content: Uint8Array, position: FilePosition, user: XmlUser): void {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for (let at = 0; at <= content.length; at += PIECE) {
    const isLast = at + PIECE > content.length;
    const piece = content.subarray(at, at + PIECE);
    try {
      rest += decoder.decode(piece, { stream: !isLast });
    } catch {
      refuseXml(position, "bytes that are not UTF-8");
    }
    const used = readParts(rest, position, user);
    rest = rest.slice(used);
    if (rest.length > MOST_LETTERS) refuseXml(position, `a tag or text of more than ${MOST_LETTERS} letters`);
  }
  if (rest.trim() !== "") refuseXml(position, `an end at ${shownInRefusal(rest)}`);
}

export function refuseXml(position: FilePosition, got: string): never {
  throw new DataError(position, "be the XML of a workbook", got, "save the workbook again");
}

/** Returns how much of the text was used: up to the last part that is whole. */
function readParts(text: string, position: FilePosition, user: XmlUser): number {
  for (let at = 0; ; ) {
    const from = text.indexOf("<", at);
    if (from < 0) return at;
    if (from > at) user.text?.(unescapedXml(text.slice(at, from), position));
    const end = partEnd(text, from, position);
    if (end < 0) return from;
    const second = text[from + 1];
    if (second === "/") user.close?.(localName(text.slice(from + 2, end - 1).trim()));
    else if (text.startsWith("<![CDATA[", from)) user.text?.(text.slice(from + 9, end - 3));
    else if (second !== "!" && second !== "?") useTag(text.slice(from + 1, end - 1), user);
    at = end;
  }
}

/** Behind the part at `from`; -1 if it goes on in the next piece. */
function partEnd(text: string, from: number, position: FilePosition): number {
  const behind = (mark: string) => {
    const end = text.indexOf(mark, from);
    return end < 0 ? -1 : end + mark.length;
  };
  if (text.startsWith("<!--", from)) return behind("-->");
  if (text.startsWith("<![CDATA[", from)) return behind("]]>");
  if (text[from + 1] === "?") return behind("?>");
  if (text[from + 1] === "!") {
    // It may be the beginning of one of the above, cut by the end of the piece.
    if (from + 9 > text.length) return -1;
    refuseXml(position, "a declaration of types or entities");
  }
  let end = text.indexOf(">", from);
  // A bracket inside quotes ends nothing.
  while (end >= 0 && quotesAreOpen(text, from, end)) end = text.indexOf(">", end + 1);
  return end < 0 ? -1 : end + 1;
}

function quotesAreOpen(text: string, from: number, to: number): boolean {
  let open = "";
  for (let at = from; at < to; at++) {
    const letter = text[at];
    if (open === "" ? letter === '"' || letter === "'" : letter === open) open = open === "" ? letter : "";
  }
  return open !== "";
}

function useTag(tag: string, user: XmlUser): void {
  const isEmpty = tag.endsWith("/");
  const whole = isEmpty ? tag.slice(0, -1) : tag;
  const space = whole.search(/\s/);
  const name = localName(space < 0 ? whole : whole.slice(0, space));
  user.open?.(name, space < 0 ? "" : whole.slice(space));
  if (isEmpty) user.close?.(name);
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

export function unescapedXml(text: string, position: FilePosition): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&([^;&]*);?/g, (whole, name: string) => {
    const [, hex, decimal] = /^#(?:x([\da-fA-F]{1,6})|(\d{1,7}))$/.exec(name) ?? [];
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (code <= 0x10ffff && whole.endsWith(";")) return String.fromCodePoint(code);
    if (!whole.endsWith(";") || !Object.hasOwn(entities, name))
      refuseXml(position, `the entity ${shownInRefusal(whole)}`);
    return entities[name];
  });
}

/** A function that finds the attribute of this name, whatever its prefix. */
export function xmlAttribute(name: string): (attributes: string) => string | undefined {
  const pattern = new RegExp(`\\s(?:\\w+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
  return (attributes) => {
    const match = pattern.exec(attributes);
    return match === null ? undefined : (match[1] ?? match[2]);
  };
}

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Characters that XML cannot have are written as workbooks escape them. */
export function escapedXml(text: string): string {
  const visible = (own: string) => {
    const isControl = own < " " && !["\t", "\n", "\r"].includes(own);
    return isControl ? `_x${own.charCodeAt(0).toString(16).padStart(4, "0")}_` : own;
  };
  return Array.from(text, (own) => marks[own] ?? visible(own)).join("");
}
