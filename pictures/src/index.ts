// The public API of @fedkm/pictures for browsers and Node, one line per file. What needs Node is in node.ts.

export { escaped, type HtmlCell, htmlPage, htmlTable } from "./html.ts";
export { lineStyle, methodTitles, strokeOptions } from "./lines.ts";
export { drawNetwork, drawNetworkKey, linkShade, type NetworkDrawing, shadeStep } from "./network.ts";
export { clusterColours, darkRules, faint, ink, paletteVariables, paper, pointOpacity, quiet } from "./palette.ts";
export { principalAxes, principalComponents, projectOnAxes } from "./principal.ts";
export { svgFile, svgPart } from "./svg.ts";
export { axisTicks, compactLabel, countLabel, domainOf, type Spacing, significantLabel } from "./ticks.ts";
export { labelSize, shortenedLabel, textWidth } from "./width.ts";
