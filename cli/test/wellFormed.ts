// A strict reader of the XML that pictures consist of; parsers at hand forgive too much to test with.

/** What is wrong with an XML document of one element, or undefined. */
export function xmlFault(text: string): string | undefined {
  const open: string[] = [];
  let roots = 0;
  let end = 0;
  for (const token of text.matchAll(/<[^>]*>/g)) {
    const between = text.slice(end, token.index);
    if (isFaulty(between)) return `bare < or & in "${between}"`;
    if (open.length === 0 && between.trim() !== "") return `text outside of the element: "${between}"`;
    end = token.index + token[0].length;
    const tag = /^<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>$/.exec(token[0]);
    if (tag === null) return `malformed tag ${token[0]}`;
    const [, closing, name, attributes, empty] = tag;
    const names = Array.from(attributes.matchAll(/([\w:-]+)="([^"]*)"/g), ([, key]) => key);
    if (new Set(names).size !== names.length) return `repeated attribute in ${token[0]}`;
    if (isFaulty(attributes)) return `bare & in ${token[0]}`;
    if (closing && open.pop() !== name) return `unexpected ${token[0]}`;
    if (!closing && open.length === 0) roots++;
    if (!closing && !empty) open.push(name);
  }
  if (text.slice(end).trim() !== "") return "text after the element";
  if (open.length > 0) return `unclosed ${open.join(", ")}`;
  return roots === 1 ? undefined : `${roots} root elements`;
}

function isFaulty(text: string): boolean {
  return /<|&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i.test(text);
}
