// Results as pages and pictures: the report of a fit, and the curves of a choice.

export { drawChoice } from "./choicePicture.ts";
export { type ReportParts, reportPage } from "./page.ts";
