// What needs Node or a document of its own: pages of SVG without a browser, and SVG as PNG and PDF.

export { blankDocument, blankPage, type Page } from "./page.ts";
export { toPdf } from "./pdf.ts";
export { toPng } from "./png.ts";
