// How wide text is, without a browser: advance widths of Inter, which PNG and PDF are written in.

/** Of the characters from space to tilde, in thousandths of the font's size. Most other sans-serif fonts are narrower. */
const advances = (
  "281 288 466 633 642 982 644 300 365 365 501 662 288 460 288 360 631 407 610 618 646 593 620 566 619 620 288 302 " +
  "662 662 662 511 966 690 654 730 722 601 590 746 743 269 571 672 565 903 753 765 639 765 644 642 646 744 690 985 " +
  "682 679 629 365 360 365 471 456 323 562 612 571 612 583 370 613 591 242 242 549 242 876 591 600 612 612 376 528 " +
  "327 591 562 818 546 562 552 426 333 426 662"
)
  .split(" ")
  .map(Number);
const FIRST = 32;

/** Beyond these characters a letter is taken to be this wide, and an ideograph to fill a square. */
const OTHER = 700;
const SQUARE = 1000;
const FIRST_IDEOGRAPH = 0x2e80;

/** One size for text, one for labels, one for the title. */
export const textSize = 13;
export const labelSize = 11;
export const titleSize = 20;

/** In pixels, of a line of labels unless another size is given. */
export function textWidth(text: string, size = labelSize): number {
  let sum = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    sum += advances[code - FIRST] ?? (code < FIRST_IDEOGRAPH ? OTHER : SQUARE);
  }
  return (sum * size) / 1000;
}

/** The text, or as much of its beginning as fits into `room` pixels, with an ellipsis. */
export function shortened(text: string, room: number, size = labelSize): string {
  if (textWidth(text, size) <= room) return text;
  const characters = [...text];
  while (characters.length > 0 && textWidth(`${characters.join("")}…`, size) > room) characters.pop();
  return `${characters.join("").trimEnd()}…`;
}
