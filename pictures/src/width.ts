// How wide text is, without a browser.

/**
 * Advance widths of the characters from space to tilde, in thousandths of the font's size: for each the wider one of
 * Inter, which PNG and PDF are written in, and DejaVu Sans, the widest font that browsers take for system-ui.
 */
const advances = (
  "318 401 466 838 642 982 780 300 390 390 501 838 318 460 318 360 636 636 636 636 646 636 636 636 636 636 337 337 " +
  "838 838 838 531 1000 690 686 730 770 632 590 775 752 295 571 672 565 903 753 787 639 787 695 642 646 744 690 989 " +
  "685 679 685 390 360 390 838 500 500 613 635 571 635 615 370 635 634 278 278 579 278 974 634 612 635 635 411 528 " +
  "392 634 592 818 592 592 552 636 337 636 838"
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

/** The text, or its beginning and its end with an ellipsis between: names often differ in a number at their end. */
export function shortenedLabel(text: string, room: number, size = labelSize): string {
  const characters = [...text];
  let shown = text;
  for (let kept = characters.length - 1; kept >= 0 && textWidth(shown, size) > room; kept--) {
    const end = Math.floor(kept / 2);
    shown = `${characters.slice(0, kept - end).join("")}…${characters.slice(characters.length - end).join("")}`;
  }
  return shown;
}
