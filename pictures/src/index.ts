// The public API of @fedkm/pictures for browsers and Node, one line per file. What needs Node is in node.ts.

export { escaped, type HtmlCell, htmlPage, htmlTable } from "./html.ts";
export { lineStyle, methodTitles, strokeOptions } from "./lines.ts";
export { drawNetwork, drawNetworkKey, linkShade, type NetworkDrawing, shadeStep } from "./network.ts";
export {
  clusterColours,
  darkRules,
  faint,
  ink,
  paletteVariables,
  paper,
  pointOpacity,
  quiet,
  roomVariables,
} from "./palette.ts";
export { principalAxes, principalComponents, projectOnAxes } from "./principal.ts";
export {
  type Door,
  drawCells,
  drawCentre,
  drawFrame,
  drawHatching,
  drawLine,
  drawOutline,
  drawRow,
  drawSpring,
  drawTornSpring,
  drawWalls,
  drawWords,
  type Floor,
  mark,
  type Place,
  scaleToFloor,
  shapePath,
  springWidth,
} from "./rooms.ts";
export { svgFile, svgPart } from "./svg.ts";
export { axisTicks, compactLabel, countLabel, domainOf, type Spacing, significantLabel } from "./ticks.ts";
export { labelSize, shortenedLabel, textWidth } from "./width.ts";
