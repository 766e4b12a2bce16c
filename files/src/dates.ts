// Dates and times as numbers: days since the beginning of 1970. Only forms that everybody reads alike are read.

const DAY = 86_400_000;

/** 2026-03-01, with or without a time and its offset from UTC. */
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s?(Z|[+-]\d{2}:?\d{2})?)?$/;
/** 1.3.2026: with points the day is first everywhere; with slashes it is not. */
const POINTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;

/** Undefined for what is no date, such as 2026-02-30. */
export function daysOf(text: string): number | undefined {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [year, month, day, hour = 0, minute = 0, second = 0] = iso.slice(1, 7).map((part) => part && Number(part));
    const date = dateOf(Number(year), Number(month), Number(day));
    if (date === undefined || Number(hour) > 24 || Number(minute) > 59 || Number(second) >= 61) return undefined;
    const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(iso[7] ?? "") ?? ["", "+", "0", "0"];
    const offset = (sign === "-" ? -1 : 1) * (60 * Number(hours) + Number(minutes));
    return date + (3600 * Number(hour) + 60 * (Number(minute) - offset) + Number(second)) / 86_400;
  }
  const [, day, month, year] = POINTED.exec(text) ?? [];
  return day === undefined ? undefined : dateOf(Number(year), Number(month), Number(day));
}

function dateOf(year: number, month: number, day: number): number | undefined {
  const time = Date.UTC(year, month - 1, day);
  const back = new Date(time);
  const isSame = back.getUTCMonth() === month - 1 && back.getUTCDate() === day && back.getUTCFullYear() === year;
  return isSame ? time / DAY : undefined;
}

/** A day as Excel counts it: from the end of 1899, with a 29 February 1900 that never was, or from the start of 1904. */
export function daysOfSerial(serial: number, is1904: boolean): number {
  if (is1904) return serial - 24_107;
  return serial < 60 ? serial - 25_568 : serial - 25_569;
}
