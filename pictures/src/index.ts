// The public API of @fedkm/pictures for browsers and Node, one line per file. What needs Node is in node.ts.

export { escaped, type HtmlCell, htmlPage, htmlTable } from "./html.ts";
export { drawNetwork, drawNetworkKey, linkShade, type NetworkDrawing, shadeStep } from "./network.ts";
export {
  clusterColours,
  darkRules,
  faint,
  ink,
  lineStyle,
  methodTitles,
  paletteVariables,
  paper,
  pointOpacity,
  quiet,
  roomVariables,
  strokeOptions,
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
export {
  axisTicks,
  compactLabel,
  countLabel,
  domainOf,
  labelSize,
  type Spacing,
  shortenedLabel,
  significantLabel,
  textWidth,
} from "./ticks.ts";
