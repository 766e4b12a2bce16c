// What needs Node or a document of its own: pages of SVG without a browser, and SVG as PNG and PDF.

export { toPdf, toPng } from "./files.ts";
export { blankDocument, blankPage, type SvgPage } from "./page.ts";
