// Dates as text, in the orders in which the world writes them, to days since the beginning of 1970.

/** Of 3/1/2026: which comes first. */
export type DateOrder = "day" | "month";

/** That dates are days, and what comes first where a column does not say it by itself. */
export const dateRules = ["days", "day-first", "month-first"] as const;
export type DateRule = (typeof dateRules)[number];

export const dateOrders: readonly DateOrder[] = ["day", "month"];

const TIME = String.raw`(?:(?:T|,? +)(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s?(Z|[+-]\d{2}:?\d{2}|[AaPp]\.?[Mm]\.?)?)?`;
/** 2026-03-01, with or without a time and its offset from UTC. */
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})${TIME}$`);
/** 1.3.2026: with points the day is first everywhere; with slashes and hyphens it is not. */
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})${TIME}$`);
/** 1 March 2026, 1-Mar-26 and 1. März 2026; Mar 1, 2026. */
const DAY_NAMED = new RegExp(String.raw`^(\d{1,2})\.?[-/ ]+(\p{L}{3,})\.?,?[-/ ]+(\d{4}|\d{2})${TIME}$`, "u");
const NAMED_DAY = new RegExp(String.raw`^(\p{L}{3,})\.? +(\d{1,2}),? +(\d{4})${TIME}$`, "u");

/** By their first letters, in English, German, French and Spanish. */
const MONTHS: readonly RegExp[] = [
  /^(jan|jän|ene)/,
  /^(feb|fév|fev)/,
  /^(mar|mär)/,
  /^(apr|avr|abr)/,
  /^(may|mai)/,
  /^(jun|juin)/,
  /^(jul|juil)/,
  /^(aug|aoû|aou|ago)/,
  /^sep/,
  /^(oct|okt)/,
  /^nov/,
  /^(dec|dez|déc|dic)/,
];

const DAY = 86_400_000;

/** Undefined for what is no date, such as 2026-02-30, and without an order also for 3/1/2026. */
export function daysOf(text: string, order?: DateOrder): number | undefined {
  const first = YEAR_FIRST.exec(text);
  if (first !== null) return moment(first[1], Number(first[3]), first[4], first.slice(5));
  const last = YEAR_LAST.exec(text);
  if (last !== null) {
    const [, one, sign, other, year, ...time] = last;
    const known = sign === "." ? "day" : order;
    if (known === undefined) return undefined;
    return known === "day" ? moment(year, Number(other), one, time) : moment(year, Number(one), other, time);
  }
  const named = DAY_NAMED.exec(text);
  if (named !== null) return moment(named[3], monthOf(named[2]), named[1], named.slice(4));
  const american = NAMED_DAY.exec(text);
  return american === null ? undefined : moment(american[3], monthOf(american[1]), american[2], american.slice(4));
}

const monthOf = (name: string) => MONTHS.findIndex((month) => month.test(name.toLowerCase())) + 1;

function moment(year: string, month: number, day: string, time: readonly (string | undefined)[]): number | undefined {
  const date = dateOf(fullYear(year), month, Number(day));
  const [hour = "0", minute = "0", second = "0", mark = ""] = time;
  if (date === undefined || Number(hour) > 24 || Number(minute) > 59) return undefined;
  const seconds = Number(second.replace(",", "."));
  if (seconds >= 61) return undefined;
  const hours = /^[ap]/i.test(mark) ? (Number(hour) % 12) + (/^p/i.test(mark) ? 12 : 0) : Number(hour);
  const [, sign, offsetHours, offsetMinutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(mark) ?? ["", "+", "0", "0"];
  const offset = (sign === "-" ? -1 : 1) * (60 * Number(offsetHours) + Number(offsetMinutes));
  return date + (3600 * hours + 60 * (Number(minute) - offset) + seconds) / 86_400;
}

/** Two digits as POSIX takes them: 69 to 99 are of the last century. */
function fullYear(text: string): number {
  const year = Number(text);
  return text.length === 4 ? year : year + (year < 69 ? 2000 : 1900);
}

function dateOf(year: number, month: number, day: number): number | undefined {
  const time = Date.UTC(year, month - 1, day);
  const back = new Date(time);
  const isSame = back.getUTCMonth() === month - 1 && back.getUTCDate() === day && back.getUTCFullYear() === year;
  return isSame ? time / DAY : undefined;
}
