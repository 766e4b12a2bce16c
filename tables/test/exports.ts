// Sixty exports as programs and offices write them, twenty kinds in three locales, with what is to be proposed for each. The
// expectations were written before anything was run on them.

import { zip } from "../../files/test/zips.ts";

export interface Export {
  readonly kind: string;
  readonly files: readonly File[];
  /** The columns that are to be clustered. */
  readonly columns: readonly string[];
  readonly categories?: readonly string[];
  readonly device?: string;
  /** The names of the devices, where several files, sheets or folders say them. */
  readonly devices?: readonly string[];
  /** none, standard, log or rank. */
  readonly scale: string;
}

export interface Locale {
  readonly name: "us" | "de" | "fr";
  readonly delimiter: string;
  number(value: number, decimals: number): string;
  money(value: number): string;
  /** Of a number of days since 1970. */
  date(days: number): string;
  percent(value: number): string;
}

const grouped = (value: number, decimals: number, thousands: string, decimal: string) => {
  const [whole, rest] = Math.abs(value).toFixed(decimals).split(".");
  const sets = whole.replaceAll(/\B(?=(\d{3})+$)/g, thousands);
  return `${value < 0 ? "-" : ""}${sets}${rest === undefined ? "" : decimal + rest}`;
};

const dayOf = (days: number) => new Date(days * 86_400_000).toISOString().slice(0, 10).split("-");

export const locales: readonly Locale[] = [
  {
    name: "us",
    delimiter: ",",
    number: (value, decimals) => grouped(value, decimals, ",", "."),
    money: (value) => (value < 0 ? `($${grouped(-value, 2, ",", ".")})` : `$${grouped(value, 2, ",", ".")}`),
    date: (days) => `${dayOf(days)[1]}/${dayOf(days)[2]}/${dayOf(days)[0]}`,
    percent: (value) => `${value.toFixed(1)}%`,
  },
  {
    name: "de",
    delimiter: ";",
    number: (value, decimals) => grouped(value, decimals, ".", ","),
    money: (value) => `${grouped(value, 2, ".", ",")} €`,
    date: (days) => `${dayOf(days)[2]}.${dayOf(days)[1]}.${dayOf(days)[0]}`,
    percent: (value) => `${value.toFixed(1).replace(".", ",")} %`,
  },
  {
    name: "fr",
    delimiter: ";",
    number: (value, decimals) => grouped(value, decimals, "\u202f", ","),
    money: (value) => `${grouped(value, 2, "\u00a0", ",")}\u00a0€`,
    date: (days) => `${dayOf(days)[2]}/${dayOf(days)[1]}/${dayOf(days)[0]}`,
    percent: (value) => `${value.toFixed(1).replace(".", ",")}\u00a0%`,
  },
];

export type Cell = string | number;

/** A column of a table by the number of the row, with a random number in [0, 1) and one of a normal distribution. */
type ColumnOf = (row: number, draw: { random(): number; normal(): number }) => Cell;

export function rowsOf(count: number, columns: readonly ColumnOf[], seed: number): Cell[][] {
  let state = seed * 2654435761 + 12345;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const normal = () => Array.from({ length: 6 }, random).reduce((a, b) => a + b) * Math.SQRT2 - 3 * Math.SQRT2;
  return Array.from({ length: count }, (_, row) => columns.map((of) => of(row, { random, normal })));
}

const quoted = (cell: Cell, delimiter: string) => {
  const text = String(cell);
  return text.includes(delimiter) || text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text;
};

export function csv(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  delimiter: string,
  end = "\n",
): string {
  return [names, ...rows].map((cells) => cells.map((cell) => quoted(cell, delimiter)).join(delimiter) + end).join("");
}

/** As Windows writes it. */
export function cp1252(text: string): Uint8Array {
  const special: Record<string, number> = { "€": 0x80, "–": 0x96, "\u202f": 0xa0 };
  return Uint8Array.from(text, (letter) => special[letter] ?? letter.charCodeAt(0));
}

const group = (row: number) => row % 3;
export const pick =
  (words: readonly string[]): ColumnOf =>
  (_, { random }) =>
    words[Math.floor(random() * words.length)];
export const amount =
  ({ money }: Locale, mean: number, deviation: number): ColumnOf =>
  (row, { normal }) =>
    money(Math.round(100 * (mean * (1 + group(row)) + deviation * normal())) / 100);
export const measure =
  ({ number }: Locale, mean: number, deviation: number, decimals: number): ColumnOf =>
  (row, { normal }) =>
    number(mean * (1 + 0.5 * group(row)) + deviation * normal(), decimals);
export const plainMeasure =
  (mean: number, deviation: number, decimals: number): ColumnOf =>
  (row, { normal }) =>
    (mean * (1 + 0.5 * group(row)) + deviation * normal()).toFixed(decimals);
export const counter: ColumnOf = (row) => row + 1;

const words = {
  us: {
    site: "hospital",
    region: "region",
    names: ["Smith, John", "Doe, Jane", "O'Neil, Pat"],
    diagnosis: "diagnosis",
    notes: "comments",
  },
  de: {
    site: "Standort",
    region: "Region",
    names: ["Müller", "Jäger", "Weiß"],
    diagnosis: "Diagnose",
    notes: "Bemerkung",
  },
  fr: {
    site: "Hôpital",
    region: "Région",
    names: ["Lefèvre", "Noël", "Garçon"],
    diagnosis: "diagnostic",
    notes: "commentaire",
  },
} as const;

export const sentence = (row: number) =>
  `the customer of line ${row} called again about the delivery and was told to wait ${row % 7} days`;

/** One kind in one locale. */
type Maker = (
  locale: Locale,
) => Omit<Export, "kind" | "files"> & { readonly name: string; readonly content: string | Uint8Array };

const makers: Readonly<Record<string, Maker>> = {
  "a shop's orders": (own) => {
    const rows = rowsOf(
      240,
      [counter, (row) => own.date(18_000 + row * 3), amount(own, 800, 120), measure(own, 4, 0.6, 0)],
      1,
    );
    return {
      name: "orders.csv",
      content: csv(["order_id", "date", "total", "items"], rows, own.delimiter),
      columns: ["date", "total", "items"],
      scale: "standard",
    };
  },
  "a ledger with negatives in brackets": (own) => {
    const rows = rowsOf(
      200,
      [
        (row) => `INV-${10_000 + row * 7}`,
        (row, { normal }) => own.money(Math.round(100 * (300 * (group(row) - 1) + 60 * normal())) / 100),
        (row, { normal }) => own.money(Math.round(100 * (9000 + 2500 * group(row) + 700 * normal())) / 100),
      ],
      2,
    );
    return {
      name: "ledger.csv",
      content: csv(["invoice", "result", "turnover"], rows, own.delimiter),
      columns: ["result", "turnover"],
      scale: "none",
    };
  },
  "percentages of a survey": (own) => {
    const rows = rowsOf(
      180,
      [
        (row) => `R${row}x`,
        (row, { normal }) => own.percent(30 + 15 * group(row) + 3 * normal()),
        (row, { normal }) => own.percent(50 - 10 * group(row) + 4 * normal()),
        (row, { normal }) => own.percent(20 + 5 * normal() + 3 * group(row)),
      ],
      3,
    );
    return {
      name: "survey.csv",
      content: csv(["respondent", "yes", "no", "other"], rows, own.delimiter),
      columns: ["yes", "no", "other"],
      scale: "none",
    };
  },
  "patients of several hospitals": (own) => {
    const { site, diagnosis } = words[own.name];
    const rows = rowsOf(
      300,
      [counter, (row) => `H${row % 5}`, measure(own, 60, 6, 1), measure(own, 120, 10, 0), pick(["A", "B", "C"])],
      4,
    );
    return {
      name: "patients.csv",
      content: csv(["patient_id", site, "weight", "pressure", diagnosis], rows, own.delimiter),
      columns: ["weight", "pressure"],
      device: site,
      scale: "standard",
    };
  },
  "customers in Windows' letters": (own) => {
    const { names, region } = words[own.name];
    const rows = rowsOf(
      210,
      [
        (row) => `${names[row % 3]} ${row}`,
        pick(["Nord – Süd", "Ost", "West"]),
        measure(own, 1200, 130, 2),
        measure(own, 35, 4, 0),
      ],
      5,
    );
    return {
      name: "customers.csv",
      content: cp1252(csv(["name", region, "revenue", "age"], rows, own.delimiter, "\r\n")),
      columns: [region, "revenue", "age"],
      categories: [region],
      scale: "standard",
    };
  },
  "sensors with codes for gaps": (own) => {
    const rows = rowsOf(
      400,
      [
        (row) => own.date(19_000 + Math.floor(row / 8)),
        (row, draw) => (row % 37 === 5 ? -999 : measure(own, 20, 2, 1)(row, draw)),
        (row, draw) => (row % 41 === 3 ? -999 : measure(own, 45, 5, 1)(row, draw)),
      ],
      6,
    );
    return {
      name: "sensors.csv",
      content: csv(["day", "temperature", "humidity"], rows, own.delimiter),
      columns: ["day", "temperature", "humidity"],
      scale: "standard",
    };
  },
  "gaps in words": (own) => {
    const rows = rowsOf(
      260,
      [
        (row, draw) => (row % 23 === 4 ? "unknown" : measure(own, 170, 6, 1)(row, draw)),
        (row, draw) => (row % 29 === 7 ? "-" : measure(own, 70, 6, 1)(row, draw)),
        pick(["yes", "no"]),
      ],
      7,
    );
    return {
      name: "people.csv",
      content: csv(["height", "mass", "smoker"], rows, own.delimiter),
      columns: ["height", "mass", "smoker"],
      categories: ["smoker"],
      scale: "standard",
    };
  },
  "a report with titles above": (own) => {
    const rows = rowsOf(150, [pick(["red", "green", "blue"]), measure(own, 15, 2, 2), measure(own, 900, 80, 0)], 8);
    return {
      name: "report.csv",
      content: `Monthly report\nmade on 1 March\n\n${csv(["colour", "length", "force"], rows, own.delimiter)}`,
      columns: ["colour", "length", "force"],
      categories: ["colour"],
      scale: "standard",
    };
  },
  "incomes with a long tail": (own) => {
    const rows = rowsOf(
      300,
      [(row, { normal }) => own.number(Math.exp(7 + group(row) + 1.2 * normal()), 2), measure(own, 40, 5, 0)],
      9,
    );
    return {
      name: "incomes.csv",
      content: csv(["income", "age"], rows, own.delimiter),
      columns: ["income", "age"],
      scale: "log",
    };
  },
  pixels: (own) => {
    const pixel: ColumnOf = (row, { random }) => Math.min(16, Math.floor(random() * 9 + 4 * group(row)));
    const names = Array.from({ length: 24 }, (_, i) => `pixel_${i}`);
    return {
      name: "digits.csv",
      content: csv(
        names,
        rowsOf(
          200,
          names.map(() => pixel),
          10,
        ),
        own.delimiter,
      ),
      columns: names,
      scale: "none",
    };
  },
  "answers from 1 to 5": (own) => {
    const answer: ColumnOf = (row, { random }) => 1 + Math.min(4, Math.floor(random() * 3 + group(row)));
    const names = Array.from({ length: 8 }, (_, i) => `q${i + 1}`);
    const rows = rowsOf(180, [(row) => `p-${row}-${row * 7919}`, ...names.map(() => answer)], 11);
    return {
      name: "answers.csv",
      content: csv(["participant", ...names], rows, own.delimiter),
      columns: names,
      scale: "none",
    };
  },
  "notes and addresses": (own) => {
    const { notes } = words[own.name];
    const rows = rowsOf(
      160,
      [(row) => `user${row}@example.org`, (row) => sentence(row), measure(own, 8, 1, 1), measure(own, 300, 40, 0)],
      12,
    );
    return {
      name: "tickets.csv",
      content: csv(["email", notes, "hours", "cost"], rows, own.delimiter),
      columns: ["hours", "cost"],
      scale: "standard",
    };
  },
  "cars with a rotary engine": (own) => {
    const rows = rowsOf(
      190,
      [(row) => (row === 77 ? "rotary" : [4, 6, 8][group(row)]), measure(own, 120, 15, 0), measure(own, 7, 0.8, 1)],
      13,
    );
    return {
      name: "cars.csv",
      content: csv(["cylinders", "power", "consumption"], rows, own.delimiter),
      columns: ["cylinders", "power", "consumption"],
      categories: ["cylinders"],
      scale: "standard",
    };
  },
  "postcodes and an answer": (own) => {
    const rows = rowsOf(
      220,
      [
        (row) => String(1000 + ((row * 37) % 8999)).padStart(5, "0"),
        measure(own, 3, 0.4, 1),
        measure(own, 95, 9, 0),
        (row) => group(row) % 2,
      ],
      14,
    );
    return {
      name: "flats.csv",
      content: csv(
        [own.name === "us" ? "zip" : own.name === "de" ? "PLZ" : "code postal", "rooms", "area", "target"],
        rows,
        own.delimiter,
      ),
      columns: ["rooms", "area"],
      scale: "standard",
    };
  },
  "stores in blocks": (own) => {
    const rows = rowsOf(
      240,
      [(row) => `market ${Math.floor(row / 60)}`, measure(own, 2000, 180, 2), measure(own, 14, 2, 0)],
      15,
    );
    return {
      name: "sales.csv",
      content: csv(["outlet", "sales", "staff"], rows, own.delimiter),
      columns: ["sales", "staff"],
      device: "outlet",
      scale: "standard",
    };
  },
  "a survey with weights": (own) => {
    const rows = rowsOf(
      200,
      [
        (row, { random }) => own.number(0.5 + random() + group(row) / 10, 3),
        measure(own, 30, 4, 0),
        measure(own, 2100, 260, 0),
        pick(["a", "b", "c", "d"]),
      ],
      16,
    );
    return {
      name: "households.csv",
      content: csv(["sample_weight", "age", "spending", "type"], rows, own.delimiter),
      columns: ["age", "spending", "type"],
      categories: ["type"],
      scale: "standard",
    };
  },
  "JSON with everything in quotes": (own) => {
    const rows = rowsOf(
      150,
      [(row) => `k${row}`, plainMeasure(12, 1, 2), plainMeasure(800, 70, 0), pick(["x", "y"])],
      17,
    );
    const lines = rows.map(([key, a, b, c]) => JSON.stringify({ key, a: String(a), b: String(b), c }));
    return {
      name: `${own.name}.jsonl`,
      content: `${lines.join("\n")}\n`,
      columns: ["a", "b", "c"],
      categories: ["c"],
      scale: "standard",
    };
  },
  "tabs, a note to Excel and empty columns": (own) => {
    const rows = rowsOf(130, [counter, measure(own, 5, 0.5, 2), () => "", measure(own, 77, 8, 1), () => "v1"], 18);
    return {
      name: "lab.csv",
      content: `sep=\t\n${csv(["no", "ph", "remark", "salt", "version"], rows, "\t", "\r\n")}`,
      columns: ["ph", "salt"],
      scale: "standard",
    };
  },
  "a workbook with a cover": (own) => {
    const rows = rowsOf(120, [counter, plainMeasure(30, 3, 1), plainMeasure(7, 0.7, 2), pick(["m", "f"])], 19);
    return {
      name: "study.xlsx",
      content: workbook([
        ["Cover", [["Study of trees"], ["made by", own.name], ["rows", 120]]],
        [
          "Data",
          [
            ["no", "height", "width", "sex"],
            ...rows.map(([no, height, width, sex]) => [no, Number(height), Number(width), sex]),
          ],
        ],
      ]),
      columns: ["height", "width", "sex"],
      categories: ["sex"],
      scale: "standard",
    };
  },
  "dates with times": (own) => {
    const time = (row: number) => `${String(row % 24).padStart(2, "0")}:${String((row * 7) % 60).padStart(2, "0")}`;
    const rows = rowsOf(
      170,
      [
        (row) => `${own.date(18_500 + row * 2)} ${time(row)}`,
        measure(own, 33, 4, 1),
        amount(own, 25, 4),
        (row) => (row % 3 === 0 ? "TRUE" : "FALSE"),
      ],
      20,
    );
    return {
      name: "trips.csv",
      content: csv(["started", "km", "fare", "shared"], rows, own.delimiter),
      columns: ["started", "km", "fare", "shared"],
      categories: ["shared"],
      scale: "standard",
    };
  },
};

const xml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** As small as a workbook can be. */
export function workbook(sheets: readonly (readonly [string, readonly (readonly Cell[])[]])[]): Uint8Array {
  const cell = (value: Cell) =>
    typeof value === "number" ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${xml(value)}</t></is></c>`;
  const parts = sheets.map(([, rows]) => {
    const lines = rows.map((cells, r) => `<row r="${r + 1}">${cells.map(cell).join("")}</row>`);
    return `<worksheet><sheetData>${lines.join("")}</sheetData></worksheet>`;
  });
  const all = {
    "xl/workbook.xml": `<workbook><sheets>${sheets.map(([name], s) => `<sheet name="${xml(name)}" r:id="r${s}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${sheets.map((_, s) => `<Relationship Id="r${s}" Target="worksheets/sheet${s}.xml"/>`).join("")}</Relationships>`,
    ...Object.fromEntries(parts.map((part, s) => [`xl/worksheets/sheet${s}.xml`, part])),
  };
  return zip(Object.entries(all).map(([name, content]) => ({ name, content })));
}

export const exports: readonly Export[] = Object.entries(makers).flatMap(([kind, make]) =>
  locales.map((locale) => {
    const { name, content, ...expected } = make(locale);
    return { kind: `${kind}, ${locale.name}`, files: [new File([content as BlobPart], name)], ...expected };
  }),
);
