// The search of the documentation: all words of the query in one section, those in its title first. Its words are loaded
// when somebody begins to type.

const { root } = document.currentScript.dataset;
const input = document.getElementById("search");
const list = document.getElementById("found");
const MOST = 12;
const MOST_OF_PAGE = 2;
let loading;

function load() {
  loading ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = `${root}words.js`;
    script.onload = () => resolve(globalThis.documentationWords);
    document.head.append(script);
  });
  return loading;
}

/** How well a section fits; 0: a word is missing. Lists of names come after pages that explain. */
function fitOf([page, id, title, text], words) {
  const [head, body] = [`${title} ${id}`.toLowerCase(), text.toLowerCase()];
  let fit = 0;
  for (const word of words) {
    const inHead = head.includes(word);
    const inBody = body.includes(word);
    if (!inHead && !inBody) return 0;
    fit += (head === word ? 40 : inHead ? 12 : 0) + Math.min(5, body.split(word).length - 1);
  }
  return page.startsWith("reference/") && head.split(" ")[0] !== words[0] ? fit / 4 : fit;
}

/** The best, of each page only a few. */
function bestOf(fits) {
  const ofPage = new Map();
  return fits
    .sort(([a], [b]) => b - a)
    .filter(([, [page]]) => {
      ofPage.set(page, (ofPage.get(page) ?? 0) + 1);
      return ofPage.get(page) <= MOST_OF_PAGE;
    })
    .slice(0, MOST);
}

/** A few words around the first that was looked for. */
function around(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 140)}`;
}

async function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = words.length > 0 ? await load() : [];
  const fits = sections.map((section) => [fitOf(section, words), section]).filter(([fit]) => fit > 0);
  list.replaceChildren(
    ...bestOf(fits).map(([, [page, id, title, text]]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${root}${page}#${id}`;
      const name = document.createElement("b");
      name.textContent = title;
      link.append(name, ` ${page.replace(".html", "")}`);
      const excerpt = document.createElement("p");
      excerpt.textContent = around(text, words);
      item.append(link, excerpt);
      return item;
    }),
  );
  if (words.length > 0 && fits.length === 0) {
    const none = document.createElement("li");
    none.textContent = "Nothing has all of these words.";
    list.append(none);
  }
  list.hidden = words.length === 0;
}

input.addEventListener("input", show);
input.addEventListener("focus", load);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === "Escape") list.hidden = true;
});
// On a phone the list of pages is folded.
document.querySelector("details").open = matchMedia("(min-width: 900px)").matches;
