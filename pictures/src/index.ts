// The public API of @fedkm/pictures for browsers and Node, one line per file. What needs Node is in node.ts.

export { escaped, type HtmlCell, htmlPage, htmlTable } from "./html.ts";
export { lineStyle, methodTitles, strokeOptions } from "./lines.ts";
export { drawKey, drawNetwork, linkShade, type NetworkDrawing, shadeStep } from "./network.ts";
export { clusterColours, darkRules, faint, ink, paper, pointOpacity, quiet, themeVariables } from "./palette.ts";
export { principalAxes, principalComponents } from "./principal.ts";
export { svgFile, svgPart } from "./svg.ts";
export { axisTicks, compact, count, domainOf, type Spacing, significant } from "./ticks.ts";
export { labelSize, shortened, textWidth } from "./width.ts";
