// Text from elsewhere on its way to a terminal or a log: characters that move the cursor or turn the writing direction
// are shown as numbers, so that nobody can make a line say something else.

export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
