// Text in HTML pages: what a user's file says is never markup.

/** Text as it stands in HTML, also between quotes. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
