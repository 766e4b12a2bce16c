// The documentation as a site: docs/*.md, every public name and every command as static pages in site/docs, with a search
// that works without a server. The order of pages is that of docs/README.md.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { paletteVariables } from "@fedkm/pictures";
import { Marked } from "marked";
import { program } from "../../cli/dist/program.js";
import { publicNames } from "../../test/gates.mjs";

const web = join(import.meta.dirname, "..");
const root = join(web, "..");
const out = join(web, "site/docs");
const read = (...path) => readFileSync(join(...path), "utf8");

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Anchors of headings as GitHub makes them. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** Every page by its path below docs, as Markdown. */
function everyPage() {
  const names = ["", "start/"].flatMap((folder) =>
    readdirSync(join(root, "docs", folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}${name}`),
  );
  const written = names.map((name) => [name, read(root, "docs", name)]);
  return new Map([...written, ["reference/commands.md", commandPage()], ...apiPages()]);
}

/** What every command says of itself. */
function commandPage() {
  const parts = [];
  const visit = (command, path) => {
    if (path !== "fedkm") parts.push(`## ${path}\n\n\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\`\n`);
    for (const inner of command.commands) if (inner.name() !== "help") visit(inner, `${path} ${inner.name()}`);
  };
  visit(commands, "fedkm");
  return `# Every command\n\nWhat \`fedkm COMMAND --help\` says, for all of them.\n\n${parts.join("\n")}`;
}

/** Every public name with its comment, its examples and its declaration as it was built, one page for each package. */
function apiPages() {
  const packages = JSON.parse(read(root, "package.json")).workspaces.filter((name) => {
    return JSON.parse(read(root, name, "package.json")).private !== true;
  });
  const found = publicNames(packages);
  return packages.flatMap((name) => {
    const all = found.filter((own) => own.package === name);
    if (all.length === 0) return [];
    const parts = all
      .sort((a, b) => (a.path + a.name < b.path + b.name ? -1 : 1))
      .map(({ path, name: symbol, comment, examples, declarations }) => {
        const from = `\`@fedkm/${name}${path.slice(1)}\``;
        const shown = [...examples, declarations.map((node) => node.getText()).join("\n")];
        const blocks = shown.map((code) => `\`\`\`ts\n${code}\n\`\`\`\n`);
        // A comment is text: what looks like a tag in it is none.
        return [`## ${symbol}`, comment.replaceAll("<", "&lt;"), `From ${from}:`, ...blocks].join("\n\n");
      });
    const head = `# @fedkm/${name}\n\nAll ${all.length} public names with what their comments say. [API](../api.md) explains those that most programs use.\n`;
    return [[`reference/${name}.md`, [head, ...parts].join("\n")]];
  });
}

/** Sections with their pages, as docs/README.md lists them, and what is generated. */
function contents(pages) {
  const sections = pages
    .get("README.md")
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")),
      items: Array.from(part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm), ([, title, path]) => ({ title, path })),
    }));
  const made = [...pages.keys()].filter((path) => path.startsWith("reference/"));
  const items = made.map((path) => ({ title: /^# (.*)$/m.exec(pages.get(path))[1], path }));
  return [...sections, { title: "Every name", items }];
}

const htmlOf = (path) => path.replace(/(^|\/)README\.md$/, "$1index.html").replace(/\.md$/, ".html");

/** A page as HTML, and its sections for the search. `pictures` gets what it shows. */
function rendered(path, text, pages, pictures) {
  const headings = [];
  const seen = new Map();
  const above = posix.dirname(path);
  const target = (href) => {
    if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
    const [file, anchor] = href.split("#");
    const found = posix.normalize(posix.join(above, file));
    if (!pages.has(found)) return undefined;
    const to = posix.relative(above, htmlOf(found));
    return anchor === undefined ? to : `${to}#${anchor}`;
  };
  const renderer = {
    heading({ tokens, depth, text: words }) {
      const plain = words.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
      const times = seen.get(anchorOf(plain)) ?? 0;
      seen.set(anchorOf(plain), times + 1);
      const id = times === 0 ? anchorOf(plain) : `${anchorOf(plain)}-${times}`;
      headings.push({ id, title: plain });
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const to = target(href);
      const inner = this.parser.parseInline(tokens);
      // What lies outside of the documentation is not on this site: its place in the repository is shown.
      if (to === undefined)
        return `<span title="in the repository: ${escaped(href.replaceAll("../", ""))}">${inner}</span>`;
      return `<a href="${escaped(to)}">${inner}</a>`;
    },
    image({ href, text: words }) {
      pictures.add(posix.normalize(posix.join(above, href)));
      return `<img src="${escaped(href)}" alt="${escaped(words)}" loading="lazy">`;
    },
    code({ text: code }) {
      const state = /^fedkm playground '([^']+)'$/m.exec(code)?.[1];
      const page = posix.relative(above, "../playground.html");
      const live = state === undefined ? "" : `<p><a href="${page}#${escaped(state)}">Open this state</a></p>\n`;
      return `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n${live}`;
    },
  };
  const html = new Marked({ renderer })
    .parse(text)
    .replaceAll("<table>", '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<th></th>", "<td></td>");
  const below = html.split(/<h[1-6] id="/).slice(1);
  const sections = headings.map(({ id, title }, i) => {
    const words = below[i].slice(below[i].indexOf("</h") + 5).replaceAll(/<[^>]*>/g, " ");
    // Of a public name its comment is searched, not its declaration.
    return [
      htmlOf(path),
      id,
      title,
      words
        .replaceAll(/\s+/g, " ")
        .trim()
        .replace(/From @fedkm\/.*$/, ""),
    ];
  });
  return { html, sections: [...sections, ...definitionsOf(path, html, headings)] };
}

/** Words that a list explains are found as if each had a heading. */
function definitionsOf(path, html, headings) {
  return Array.from(html.matchAll(/<li><strong>([^<]+)<\/strong>: ([\s\S]*?)<\/li>/g), ([, word, text]) => {
    return [htmlOf(path), headings[0].id, word, text.replaceAll(/<[^>]*>/g, " ").trim()];
  });
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

function pageOf(path, html, sections) {
  const up = posix.relative(posix.dirname(path), ".") || ".";
  const title = /<h1[^>]*>([\s\S]*?)<\/h1>/.exec(html)?.[1].replaceAll(/<[^>]*>/g, "") ?? "fedkm";
  const items = ({ title: name, path: to }) => {
    const isHere = to === path ? ' aria-current="page"' : "";
    return `<li><a href="${posix.relative(posix.dirname(path), htmlOf(to))}"${isHere}>${escaped(name)}</a></li>`;
  };
  const list = sections
    .map(({ title: name, items: all }) => `<h2>${name}</h2><ul>${all.map(items).join("")}</ul>`)
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}/docs.css">
<script src="${up}/search.js" data-root="${up}/" defer></script>
<title>${title} · fedkm</title>
</head>
<body>
<header><a class="home" href="${up}/index.html">fedkm</a><a href="${up}/../index.html">How it works</a><a href="${up}/../playground.html">Playground</a>
<div role="search"><label for="search">Search</label><input id="search" type="search" autocomplete="off"><ol id="found" aria-live="polite" hidden></ol></div></header>
<div class="body">
<nav aria-label="Documentation"><details><summary>All pages</summary>${list}</details></nav>
<main>
${html}</main>
</div>
</body>
</html>
`;
}

const commands = await program({ stdout: process.stdout, stderr: process.stderr, stdin: process.stdin }, "all");
const pages = everyPage();
const sections = contents(pages);
const pictures = new Set();
const found = [];
rmSync(out, { recursive: true, force: true });
for (const [path, text] of pages) {
  const page = rendered(path, text, pages, pictures);
  found.push(...page.sections);
  const file = join(out, htmlOf(path));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, pageOf(path, page.html, sections));
}
for (const picture of pictures) cpSync(join(root, "docs", picture), join(out, picture));
const font = readdirSync(join(web, "site/assets")).find((name) => name.startsWith("bricolage-grotesque"));
const style = read(web, "docs/docs.css").replace("bricolage-grotesque.woff2", `../assets/${font}`);
writeFileSync(join(out, "docs.css"), `${paletteVariables()}\n${style}`);
writeFileSync(join(out, "search.js"), read(web, "docs/search.js"));
// A script, not JSON: pages that are opened as files may not fetch.
writeFileSync(join(out, "words.js"), `globalThis.documentationWords=${JSON.stringify(found)};\n`);
console.log(`docs: ${pages.size} pages, ${found.length} sections`);
