// How the cells of a column are written, from the cells themselves: signs before decimals and between thousands, a unit,
// negative numbers of accountants, the order of dates. What could mean two things is not decided here.

import { type DateOrder, dateOrders, daysOf } from "./dates.ts";

/** What is not as usual in a column. */
export interface CellForm {
  /** What stands before the decimals: a point unless said. */
  readonly decimal?: "." | ",";
  /** What stands between thousands. */
  readonly thousands?: "," | "." | " " | "'";
  /** A currency or another unit, which stands in front or behind. */
  readonly unit?: string;
  /** Of dates such as 3/1/2026. */
  readonly order?: DateOrder;
}

const CODES = "USD|EUR|GBP|JPY|CHF|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|BRL|MXN|ZAR|CNY|TRY";
const CURRENCY = `[A-Z]{0,2}\\$|[€£¥₹₽₩₺₴]|${CODES}|kr\\.?|zł|Kč|Ft|Fr\\.?`;
const UNIT =
  "[%‰°]|°[CF]|km/h|mph|[kcm]?m|[km]?g|lbs?|oz|ml|l|kWh|kW|W|[KMG]B|ms|s|sec|min|h|hrs?|days?|years?|yrs?|Jahre|Tage|ans|Std\\.?|px|pcs|Stk\\.?|pts?";
const BEFORE = new RegExp(`^(${CURRENCY})[ \u00a0\u202f]*`);
const BEHIND = new RegExp(`[ \u00a0\u202f]*(${CURRENCY}|${UNIT})$`);
const IS_CURRENCY = new RegExp(`^(${CURRENCY})$`);

interface Amount {
  readonly isNegative: boolean;
  readonly unit: string;
  readonly digits: string;
  /** Whether it is negative as accountants write it: in brackets, or with the sign behind. */
  readonly isBooked: boolean;
}

/** The parts of 1,234.50 €, ($83.47), 70.9 % and 12-; `digits` may be anything. */
function amountIn(text: string): Amount {
  let rest = text
    .replaceAll(/[\u00a0\u2009\u202f]/g, " ")
    .replaceAll("\u2212", "-")
    .replaceAll("\u2019", "'")
    .replaceAll(/^ +| +$/g, "");
  const take = (pattern: RegExp): string => {
    const found = pattern.exec(rest)?.[1] ?? "";
    if (found !== "") rest = rest.replace(pattern, "");
    return found;
  };
  let sign = take(/^([+-]) ?/);
  let unit = take(BEFORE);
  const inside = sign === "" ? /^\((.+)\)$/.exec(rest)?.[1] : undefined;
  if (inside !== undefined) rest = inside.replaceAll(/^ +| +$/g, "");
  unit ||= take(BEFORE);
  unit ||= take(BEHIND);
  if (inside === undefined) sign ||= take(/^([+-])/);
  const behind = inside === undefined && sign === "" ? take(/ ?(-)$/) : "";
  const isBooked = inside !== undefined || behind !== "";
  return { isNegative: isBooked || sign === "-", unit, digits: rest.replaceAll(/^ +| +$/g, ""), isBooked };
}

type Style = Pick<CellForm, "decimal" | "thousands"> & { readonly pattern: RegExp };

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Digits in groups of three, none of which begins the number with a 0; or without groups. */
function styleOf(decimal: "." | ",", thousands?: CellForm["thousands"]): Style {
  const point = escaped(decimal);
  const plain = `(?:\\d+(?:${point}\\d*)?|${point}\\d+)(?:[eE][+-]?\\d+)?`;
  const grouped = thousands && `[1-9]\\d{0,2}(?:${escaped(thousands)}\\d{3})+(?:${point}\\d+)?`;
  const pattern = new RegExp(`^(?:${[plain, ...(grouped ? [grouped] : [])].join("|")})$`);
  return { decimal, ...(thousands && { thousands }), pattern };
}

/** The simplest first. */
const styles: readonly Style[] = [
  styleOf("."),
  styleOf(","),
  ...([",", " ", "'"] as const).map((thousands) => styleOf(".", thousands)),
  ...([".", " ", "'"] as const).map((thousands) => styleOf(",", thousands)),
];

/** The number of a cell that is written so; undefined for anything else. */
export function amountReader({ decimal = ".", thousands, unit = "" }: CellForm): (text: string) => number | undefined {
  const { pattern } =
    styles.find((own) => own.decimal === decimal && own.thousands === thousands) ?? styleOf(decimal, thousands);
  // A bare 0 has no unit; of an amount of money it goes without saying.
  const mayLackUnit = unit === "" || IS_CURRENCY.test(unit);
  return (text) => {
    const amount = amountIn(text);
    const isUnit = amount.unit === unit || (amount.unit === "" && (mayLackUnit || /^0$/.test(amount.digits)));
    if (!isUnit || !pattern.test(amount.digits)) return undefined;
    const plain = thousands === undefined ? amount.digits : amount.digits.replaceAll(thousands, "");
    const value = Number(decimal === "," ? plain.replace(",", ".") : plain);
    return amount.isNegative ? -value : value;
  };
}

/** As programs write numbers; Number alone would take "", "0x10" and " " too. */
export const USUAL_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** What the cells of a column that are there may be. */
export type LookedCells =
  | { readonly kind: "empty" | "text" }
  | { readonly kind: "date"; readonly orders: readonly (DateOrder | undefined)[] }
  /** For each sign before decimals that they may have the simplest form; `isPlain` if they are as usual with a point. */
  | {
      readonly kind: "number";
      readonly forms: readonly CellForm[];
      readonly isPlain: boolean;
      readonly isCode: boolean;
      /** Whether the forms read different numbers. */
      readonly isOpen: boolean;
    };

/** Of so few cells each one counts. */
const FEW = 5;
/** So many of the cells have a form that is not the usual one; the others are mistakes. */
const MOST = 0.9;

export function lookAtCells(present: readonly string[]): LookedCells {
  if (present.length === 0) return { kind: "empty" };
  const orders = [undefined, ...dateOrders].filter((order) => {
    return present.every((text) => daysOf(text, order) !== undefined);
  });
  if (orders.length > 0) return { kind: "date", orders: orders[0] === undefined ? [undefined] : orders };
  const amounts = present.map(amountIn);
  const unit = frequentUnit(amounts);
  // One such cell is a slip of the pen.
  const isBooked = amounts.filter((own) => own.isBooked).length > 1;
  const isOwn = (own: Amount) => (own.unit === "" || own.unit === unit) && (isBooked || !own.isBooked);
  const counts = styles.map(({ pattern }) => amounts.filter((own) => isOwn(own) && pattern.test(own.digits)).length);
  const usual = present.filter((text) => USUAL_NUMBER.test(text)).length;
  const largest = Math.max(...counts);
  // One cell with another sign is a mistake among many.
  const most = usual === largest - 1 && usual > FEW ? usual : largest;
  const best = styles.filter((_, s) => counts[s] >= most);
  const forms = ([".", ","] as const).flatMap((decimal): CellForm[] => {
    const style = best.find((own) => own.decimal === decimal);
    return style ? [{ decimal, ...(style.thousands && { thousands: style.thousands }), ...(unit && { unit }) }] : [];
  });
  const isPlain = usual === most;
  // Among usual numbers a half may be anything, which is refused by its line.
  const isNumber = isPlain ? 2 * most >= present.length : most >= MOST * present.length;
  const isCode = present.every((text) => /^\d+$/.test(text)) && present.some((text) => /^0\d/.test(text));
  const isOpen = amounts.some(({ digits }) => /[.,]/.test(digits));
  return isNumber ? { kind: "number", forms, isPlain, isCode, isOpen } : { kind: "text" };
}

/** Whether a cell looks like one, whatever its signs mean. */
export function isAmountOrDate(text: string): boolean {
  const trimmed = text.trim();
  return (
    /^\d[\d.,' ]*$/.test(amountIn(trimmed).digits) || dateOrders.some((order) => daysOf(trimmed, order) !== undefined)
  );
}

/** What half of the cells have. */
function frequentUnit(amounts: readonly Amount[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { unit } of amounts) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  const [[unit, count]] = [...counts].sort((a, b) => b[1] - a[1]);
  return unit !== "" && 2 * count >= amounts.length ? unit : undefined;
}
