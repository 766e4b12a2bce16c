// Every colour of the product, each for a light and for a dark ground. No other file names a colour.

interface Shade {
  readonly light: string;
  readonly dark: string;
}

const shades = {
  paper: { light: "#ffffff", dark: "#17181a" },
  /** Text and marks; quiet text; lines that only guide the eye; what lies under figures in a table. */
  ink: { light: "#222222", dark: "#e6e6e6" },
  quiet: { light: "#595959", dark: "#a8a8a8" },
  faint: { light: "#d4d4d4", dark: "#3a3c40" },
  bar: { light: "#dfe8f0", dark: "#2c3a47" },
  /** For warnings and nothing else. */
  alarm: { light: "#a33000", dark: "#ff9d6b" },
} as const;

/** Okabe and Ito's colours, which the colour-blind can tell apart, and the same hues for points on a dark ground. */
const clusters: readonly Shade[] = [
  { light: "#0072B2", dark: "#3D9BE9" },
  { light: "#E69F00", dark: "#F5B83D" },
  { light: "#009E73", dark: "#2CC295" },
  { light: "#CC79A7", dark: "#E39BC4" },
  { light: "#56B4E9", dark: "#8FD3FF" },
  { light: "#D55E00", dark: "#FF8A3D" },
  { light: "#F0E442", dark: "#F7EE7A" },
  { light: "#999999", dark: "#B3B3B3" },
];
const [blue, orange, green, pink, sky, vermilion, , grey] = clusters;

/** One hue that no cluster and no method has. The farther from the ground, the farther apart the two ends of a link. */
const links: readonly Shade[] = [
  { light: "#cfcce6", dark: "#37344e" },
  { light: "#b3aed6", dark: "#544e7d" },
  { light: "#8f82bf", dark: "#7a70b0" },
  { light: "#664c9f", dark: "#a99ddc" },
  { light: "#3a0a78", dark: "#e0d8ff" },
];

/** Below and above what is usual, weak to strong: two hues that differ for the colour-blind, light enough for text on them. */
const lower: readonly Shade[] = [
  { light: "#e3f1f0", dark: "#1d2f30" },
  { light: "#b9dedb", dark: "#1b4547" },
  { light: "#7cc4bf", dark: "#1a6064" },
];
const higher: readonly Shade[] = [
  { light: "#f9ebdd", dark: "#362a1f" },
  { light: "#f3cfa6", dark: "#54381c" },
  { light: "#e5a869", dark: "#7a4c16" },
];

/** A line dark enough for its name to have its colour. */
function alike(shade: Shade): { readonly line: Shade; readonly name: Shade } {
  return { line: shade, name: shade };
}

/** A method's line, and its name in letters, which need more contrast than a line. */
const lines = {
  fedkm: alike(blue),
  "fedkm-ot": { line: sky, name: { light: "#1F78AD", dark: "#8FD3FF" } },
  consensus: { line: green, name: { light: "#007A58", dark: "#2CC295" } },
  distributed: { line: vermilion, name: { light: "#B84F00", dark: "#FF8A3D" } },
  local: { line: grey, name: shades.quiet },
  pooled: alike({ light: "#000000", dark: "#fafafa" }),
  gradient: { line: pink, name: { light: "#A3467A", dark: "#E39BC4" } },
  fkm: { line: { light: "#9A7D00", dark: "#C9A400" }, name: { light: "#7D6500", dark: "#C9A400" } },
  coreset: { line: sky, name: { light: "#1F78AD", dark: "#8FD3FF" } },
  backbone: { line: orange, name: { light: "#8F6200", dark: "#F5B83D" } },
  kfed: alike({ light: "#7A4EAB", dark: "#A98AD6" }),
};

/** Points that lie on each other look darker; on a dark ground they need more light of their own. */
export const pointOpacity = 0.45;
const darkPointOpacity = 0.75;

const onLight = ({ light }: Shade) => light;

/** The colour of the page. */
export const paper = shades.paper.light;
/** The colour of text. */
export const ink = shades.ink.light;
/** The colour of labels beside what matters. */
export const quiet = shades.quiet.light;
/** The colour of what should hardly be seen. */
export const faint = shades.faint.light;
/** Colours of clusters on a light page. */
export const clusterColours: readonly string[] = clusters.map(onLight);
export const linkShades: readonly string[] = links.map(onLight);
const lineColours = new Map(
  Object.entries(lines).map(([method, { line, name }]) => [method, { line: onLight(line), name: onLight(name) }]),
);

const every: readonly Shade[] = [
  ...Object.values(shades),
  ...clusters,
  ...links,
  ...lower,
  ...higher,
  ...Object.values(lines).flatMap(({ line, name }) => [line, name]),
];

/** The colour on the dark ground for each one on the light ground. */
export const darkOf: ReadonlyMap<string, string> = new Map(every.map(({ light, dark }) => [light, dark]));

/**
 * Style rules under which a drawing for the light ground is one for the dark ground where the reader prefers that.
 * `drawing` limits them to its colours. On paper everything stays light.
 */
export function darkRules(drawing?: string): string {
  const rules = Array.from(darkOf)
    .filter(([light]) => drawing === undefined || drawing.includes(`"${light}"`))
    .flatMap(([light, dark]) => ["fill", "stroke"].map((of) => `[${of}="${light}"]{${of}:${dark}}`));
  const points = ["fill-opacity", "stroke-opacity"].map((of) => `[${of}="${pointOpacity}"]{${of}:${darkPointOpacity}}`);
  const current = `[color="${ink}"]{color:${darkOf.get(ink)}}`;
  return `@media screen and (prefers-color-scheme:dark){${current}${rules.join("")}${points.join("")}}`;
}

/** Of rooms, doors and springs: ground, floor and walls; what pulls; own rows; and tints of cells for the first clusters. */
const roomShades = {
  page: { light: "#F2F5F4", dark: "#0E151C" },
  room: { light: "#FFFFFF", dark: "#17212B" },
  wall: { light: "#14202B", dark: "#EDF2F4" },
  soft: { light: "#52606C", dark: "#9FB0BD" },
  hair: { light: "#D3DAD8", dark: "#2B3945" },
  wash: { light: "#E6ECEA", dark: "#1C2833" },
  pull: { light: "#B3186D", dark: "#FF79B8" },
  "pull-wash": { light: "#F3DCE8", dark: "#45203A" },
  own: { light: "#2A3D52", dark: "#D3DFEA" },
  "own-fill": { light: "#A9B8C7", dark: "#50657C" },
  "own-wash": { light: "#DCE3EA", dark: "#28394A" },
  warning: { light: "#B42318", dark: "#FF8A7A" },
  "name-0": { light: "#005F96", dark: "#7CC6F0" },
  "name-1": { light: "#8A5A00", dark: "#F2B134" },
  "name-2": { light: "#00704F", dark: "#4BD4AB" },
  "cell-0": { light: "#E3F0F8", dark: "#172E40" },
  "cell-1": { light: "#FCF2DC", dark: "#332B1A" },
  "cell-2": { light: "#DEF3EC", dark: "#15332D" },
} as const;

/** Variables of a drawing of its own in which there are rooms. */
export function roomVariables(): string {
  return declarations([...Object.entries(roomShades), ...clusters.slice(0, 5).map(numbered("cluster"))]);
}

const numbered = (name: string) => (shade: Shade, i: number) => [`${name}-${i}`, shade] as const;

/** All of them as variables of a page: --ink, --room, --cluster-0 and so on. Words and lines are those of rooms. */
export function paletteVariables(): string {
  const { wall, room, soft, hair, wash, warning } = roomShades;
  return declarations([
    ...Object.entries({ ...roomShades, paper: room, ink: wall, quiet: soft, faint: hair, bar: wash, alarm: warning }),
    ...clusters.map(numbered("cluster")),
    ...links.map(numbered("link")),
    ...lower.map((shade, i) => [`lower-${i + 1}`, shade] as const),
    ...higher.map((shade, i) => [`higher-${i + 1}`, shade] as const),
    ["point-opacity", { light: String(pointOpacity), dark: String(darkPointOpacity) }],
  ]);
}

function declarations(named: readonly (readonly [string, Shade])[]): string {
  const declared = (ground: keyof Shade) => named.map(([name, shade]) => `--${name}:${shade[ground]}`).join(";");
  return `:root{color-scheme:light dark;${declared("light")}}
@media screen and (prefers-color-scheme:dark){:root{${declared("dark")}}}`;
}

// How methods are drawn: dashes and marks first, then hue, so that grey print can tell lines apart.

export interface LineStyle {
  readonly stroke: string;
  /** The colour of the line's name, which is darker where the line itself is too light to read. */
  readonly name: string;
  readonly width: number;
  readonly dashes?: string;
  readonly mark: Mark;
}

export type Mark = "circle" | "triangle" | "square" | "diamond" | "cross";

const lineForms: { readonly [method: string]: Omit<LineStyle, "stroke" | "name"> } = {
  fedkm: { width: 2, mark: "circle" },
  "fedkm-ot": { width: 1.6, dashes: "6,3", mark: "cross" },
  consensus: { width: 2, mark: "square" },
  distributed: { width: 2, dashes: "0.1,4", mark: "triangle" },
  local: { width: 1.5, dashes: "8,3,1.5,3", mark: "square" },
  pooled: { width: 1, mark: "square" },
  gradient: { width: 1.6, dashes: "5,3", mark: "diamond" },
  fkm: { width: 1.6, dashes: "9,3", mark: "square" },
  coreset: { width: 1.6, dashes: "2,2", mark: "square" },
  backbone: { width: 1.6, dashes: "12,3,3,3", mark: "triangle" },
  kfed: { width: 1.6, dashes: "6,2,2,2", mark: "diamond" },
};

/** Of a method that is not in the table, such as one of the user's own. */
const unknownForm: Omit<LineStyle, "stroke" | "name"> = { width: 1.6, dashes: "3,3", mark: "diamond" };

/** Colour and dashes of a method's curve. */
export function lineStyle(method: string): LineStyle {
  const { line, name } = lineColours.get(method) ?? { line: ink, name: ink };
  return { stroke: line, name, ...(lineForms[method] ?? unknownForm) };
}

/** What Plot's line and rule marks need of a style. */
export function strokeOptions({ stroke, width, dashes }: LineStyle) {
  const dashed = dashes === undefined ? {} : { strokeDasharray: dashes, strokeLinecap: "round" as const };
  return { stroke, strokeWidth: width, ...dashed };
}

/** The names under which the paper's figures know them. */
export const methodTitles: { readonly [method: string]: string } = {
  fedkm: "Algorithm 1",
  local: "Local k-means",
  distributed: "Distributed k-means",
  pooled: "Pooled k-means",
};
