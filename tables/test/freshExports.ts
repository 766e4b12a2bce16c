// Sixty more exports, of twenty further kinds in three locales, with what is to be proposed for each. The expectations were
// written before anything was run on them; nothing was changed for the kinds that are held out.

import { parquet, zip } from "../../files/test/zips.ts";
import {
  amount,
  type Cell,
  counter,
  cp1252,
  csv,
  type Export,
  type Locale,
  locales,
  measure,
  pick,
  plainMeasure,
  rowsOf,
  sentence,
  workbook,
} from "./exports.ts";

type Maker = (
  locale: Locale,
) => Omit<Export, "kind" | "files"> & { readonly files: readonly (readonly [string, string | Uint8Array])[] };

const group = (row: number) => row % 3;
const said = <T>(own: Locale, us: T, de: T, fr: T): T => ({ us, de, fr })[own.name];

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);

/** What LibreOffice writes, without its styles. */
function openDocument(sheets: readonly (readonly [string, readonly (readonly Cell[])[]])[]): Uint8Array {
  const cell = (value: Cell) =>
    typeof value === "number"
      ? `<table:table-cell office:value-type="float" office:value="${value}"><text:p>${value}</text:p></table:table-cell>`
      : value === ""
        ? "<table:table-cell/>"
        : `<table:table-cell office:value-type="string"><text:p>${value.replaceAll("&", "&amp;")}</text:p></table:table-cell>`;
  const rest =
    '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
  const tables = sheets.map(([name, rows]) => {
    const lines = rows.map((cells) => `<table:table-row>${cells.map(cell).join("")}</table:table-row>`);
    return `<table:table table:name="${name}"><table:table-column/>${lines.join("")}${rest}</table:table>`;
  });
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content><office:body><office:spreadsheet>${tables.join("")}</office:spreadsheet></office:body></office:document-content>`;
  return zip([
    { name: "mimetype", content: "application/vnd.oasis.opendocument.spreadsheet" },
    { name: "content.xml", content },
  ]);
}

const tuned: Readonly<Record<string, Maker>> = {
  "Unicode text of Excel": (own) => {
    const rows = rowsOf(
      160,
      [
        (row) => `A-${row * 13 + 7}`,
        amount(own, 12, 1.5),
        measure(own, 40, 5, 0),
        pick(["Größe S", "Größe M", "Größe L"]),
      ],
      31,
    );
    return {
      files: [["articles.txt", utf16(csv(["article", "price", "stock", "size"], rows, "\t", "\r\n"))]],
      columns: ["price", "stock", "size"],
      categories: ["size"],
      scale: "standard",
    };
  },
  "comments above a table": (own) => {
    const rows = rowsOf(140, [measure(own, 21, 2, 2), measure(own, 1013, 9, 1), measure(own, 55, 6, 0)], 32);
    const head = "# station 11, exported 2026-03-01\n# units: degrees, hPa, percent\n#\n";
    return {
      files: [["weather.csv", head + csv(["temperature", "pressure", "humidity"], rows, own.delimiter)]],
      columns: ["temperature", "pressure", "humidity"],
      scale: "standard",
    };
  },
  "everything in quotes behind a byte order mark": (own) => {
    const rows = rowsOf(150, [counter, measure(own, 230, 25, 1), measure(own, 4.2, 0.5, 2), pick(["A", "B"])], 33);
    const quoted = [["id", "power", "torque", "line"], ...rows]
      .map((cells) => cells.map((cell) => `"${cell}"`).join(own.delimiter))
      .join("\r\n");
    return {
      files: [["motors.csv", `\ufeff${quoted}\r\n`]],
      columns: ["power", "torque", "line"],
      categories: ["line"],
      scale: "standard",
    };
  },
  "a sheet for each site": (own) => {
    const sheets = said(own, ["Boston", "Denver", "Miami"], ["Bonn", "Kiel", "Ulm"], ["Lyon", "Nice", "Metz"]);
    const made = sheets.map((name, s): [string, Cell[][]] => {
      const rows = rowsOf(60, [counter, plainMeasure(50 + s, 5, 1), plainMeasure(8, 1, 2)], 34 + s);
      return [name, [["no", "waste", "water"], ...rows.map((cells) => cells.map(Number))]];
    });
    return {
      files: [["sites.xlsx", workbook(made)]],
      columns: ["waste", "water"],
      devices: sheets,
      scale: "standard",
    };
  },
  "a sheet of LibreOffice": (own) => {
    const rows = rowsOf(110, [counter, plainMeasure(60, 7, 1), plainMeasure(1.7, 0.1, 2), pick(["f", "m"])], 38);
    const table = [["nr", "mass", "height", "sex"], ...rows.map(([n, a, b, c]) => [n, Number(a), Number(b), c])];
    return {
      files: [["people.ods", openDocument([[said(own, "Sheet1", "Tabelle1", "Feuille1"), table]])]],
      columns: ["mass", "height", "sex"],
      categories: ["sex"],
      scale: "standard",
    };
  },
  "an archive with a file for each branch": (own) => {
    const names = said(own, ["east", "south", "west"], ["nord", "ost", "west"], ["est", "nord", "sud"]);
    const entries = names.map((name, n) => {
      const rows = rowsOf(
        70,
        [(row) => own.date(19_000 + row), amount(own, 500 + 20 * n, 60), measure(own, 9, 1, 0)],
        39 + n,
      );
      return { name: `export/${name}.csv`, content: csv(["date", "revenue", "staff"], rows, own.delimiter) };
    });
    return {
      files: [["branches.zip", zip(entries)]],
      columns: ["date", "revenue", "staff"],
      devices: names,
      scale: "standard",
    };
  },
  "folders as Spark writes them": (own) => {
    const plants = said(own, ["austin", "boise", "reno"], ["aachen", "berlin", "celle"], ["arles", "brest", "calais"]);
    return {
      files: plants.map((plant, p) => {
        const rows = rowsOf(
          55,
          [measure(own, 75, 6, 1), measure(own, 1200 + p, 150, 0), (row) => `B${row}-${p}`],
          43 + p,
        );
        return [`plant=${plant}/part-00000.csv`, csv(["heat", "speed", "batch"], rows, own.delimiter)] as const;
      }),
      columns: ["heat", "speed"],
      devices: plants,
      scale: "standard",
    };
  },
  "amounts of SAP": (own) => {
    const booked = (value: number) => `${own.number(Math.abs(value), 2)}${value < 0 ? "-" : ""}`;
    const rows = rowsOf(
      170,
      [
        (row) => 4_500_000_000 + row * 11,
        (row, { normal }) => booked(2500 * (group(row) - 1) + 400 * normal()),
        (row, { normal }) => booked(90_000 + 20_000 * group(row) + 6000 * normal()),
        pick(["1000", "2000", "3000"]),
      ],
      46,
    );
    return {
      files: [["items.csv", csv(["document number", "balance", "volume", "company code"], rows, own.delimiter)]],
      columns: ["balance", "volume", "company code"],
      categories: ["company code"],
      scale: "standard",
    };
  },
  "units behind numbers": (own) => {
    const rows = rowsOf(
      150,
      [
        (row, draw) => `${measure(own, 72, 7, 1)(row, draw)} kg`,
        (row, draw) => `${measure(own, 170, 8, 0)(row, draw)} cm`,
        pick([said(own, "yes", "ja", "oui"), said(own, "no", "nein", "non")]),
      ],
      47,
    );
    return {
      files: [["runners.csv", csv(["weight", "height", "club"], rows, own.delimiter)]],
      columns: ["weight", "height", "club"],
      categories: ["club"],
      scale: "standard",
    };
  },
  "spaces between numbers": () => {
    const rows = rowsOf(140, [plainMeasure(5, 0.5, 3), plainMeasure(90, 8, 2), plainMeasure(0.2, 0.02, 4)], 48);
    return {
      files: [["run.dat", `${[["x", "y", "z"], ...rows].map((cells) => cells.join("  ")).join("\n")}\n`]],
      columns: ["x", "y", "z"],
      scale: "standard",
    };
  },
  "Parquet of a lake": (own) => {
    const site = said(own, "facility", "werk", "usine");
    const rows = rowsOf(
      180,
      [(row) => `P${row % 4}`, plainMeasure(300, 30, 1), plainMeasure(0.8, 0.1, 3), counter],
      49,
    );
    const column = (at: number, type: "STRING" | "DOUBLE" | "INT32") => ({
      data: rows.map((cells) => (type === "STRING" ? String(cells[at]) : Number(cells[at]))),
      type,
    });
    const columnData = [
      { name: site, ...column(0, "STRING") },
      { name: "load", ...column(1, "DOUBLE") },
      { name: "cosphi", ...column(2, "DOUBLE") },
      { name: "seq", ...column(3, "INT32") },
    ];
    return {
      files: [["meters.parquet", parquet(columnData)]],
      columns: ["load", "cosphi"],
      device: site,
      scale: "standard",
    };
  },
  "a workbook with titles and a cover in three languages": (own) => {
    const rows = rowsOf(130, [counter, plainMeasure(14, 1.2, 1), plainMeasure(33, 4, 1), pick(["k1", "k2", "k3"])], 50);
    const title = said(own, "Quarterly figures", "Quartalszahlen", "Chiffres du trimestre");
    return {
      files: [
        [
          "quarter.xlsx",
          workbook([
            [said(own, "Read me", "Hinweise", "Lisez-moi"), [[title], [sentence(1)], [sentence(2)]]],
            [
              said(own, "Values", "Werte", "Valeurs"),
              [
                [title],
                ["2026"],
                ["no", "hardness", "strength", "charge"],
                ...rows.map(([n, a, b, c]) => [n, Number(a), Number(b), c]),
              ],
            ],
          ]),
        ],
      ],
      columns: ["hardness", "strength", "charge"],
      categories: ["charge"],
      scale: "standard",
    };
  },
  "words for what was not measured": (own) => {
    const none = said(own, "not tested", "k.A.", "n.d.");
    const rows = rowsOf(
      220,
      [
        counter,
        (row, draw) => (row % 19 === 3 ? none : measure(own, 5.1, 0.6, 1)(row, draw)),
        (row, draw) => (row % 31 === 8 ? "NA" : measure(own, 140, 14, 0)(row, draw)),
        pick([said(own, "urban", "Stadt", "ville"), said(own, "rural", "Land", "campagne")]),
      ],
      51,
    );
    return {
      files: [["blood.csv", cp1252(csv(["sample_no", "potassium", "sodium", "area"], rows, own.delimiter, "\r\n"))]],
      columns: ["potassium", "sodium", "area"],
      categories: ["area"],
      scale: "standard",
    };
  },
};

const heldOut: Readonly<Record<string, Maker>> = {
  "a data frame with its index": (own) => {
    const rows = rowsOf(150, [(row) => row, plainMeasure(9, 1, 2), plainMeasure(410, 45, 0), pick(["lo", "hi"])], 52);
    return {
      files: [["frame.csv", csv(["", "acid", "sugar", "grade"], rows, ",")]],
      columns: ["acid", "sugar", "grade"],
      categories: ["grade"],
      scale: said(own, "standard", "standard", "standard"),
    };
  },
  "visits of sites with numbers": (own) => {
    const rows = rowsOf(
      280,
      [
        (row) => 100 + (row % 7),
        (row) => `S${100 + (row % 7)}-${String(row).padStart(4, "0")}`,
        (row) => own.date(19_400 + ((row * 17) % 300)),
        measure(own, 128, 11, 0),
        measure(own, 27, 3, 1),
        pick(["improved", "stable", "worse"]),
      ],
      53,
    );
    return {
      files: [["visits.csv", csv(["site_id", "subject", "visit", "systolic", "bmi", "outcome"], rows, own.delimiter)]],
      columns: ["visit", "systolic", "bmi"],
      device: "site_id",
      scale: "standard",
    };
  },
  "a table of R": (own) => {
    const rows = rowsOf(
      170,
      [
        (row) => `"${row + 1}"`,
        (row, draw) => (row % 27 === 11 ? "NA" : plainMeasure(17, 2, 2)(row, draw)),
        (row, draw) => (row % 33 === 4 ? "NA" : plainMeasure(0.04, 0.005, 4)(row, draw)),
        pick(['"control"', '"treated"']),
      ],
      54,
    );
    const lines = [['""', '"yield"', '"nitrogen"', '"arm"'], ...rows].map((cells) => `${cells.join(",")}\n`);
    return {
      files: [[`${own.name}.csv`, lines.join("")]],
      columns: ["yield", "nitrogen", "arm"],
      categories: ["arm"],
      scale: "standard",
    };
  },
  "positions on a map": (own) => {
    const rows = rowsOf(
      160,
      [
        (row) => `${said(own, "Stop", "Halt", "Arrêt")} ${row}`,
        (row, { normal }) => (47 + group(row) + 0.2 * normal()).toFixed(5),
        (row, { normal }) => (8 + 1.5 * group(row) + 0.3 * normal()).toFixed(5),
      ],
      55,
    );
    return {
      files: [["stops.csv", csv(["name", "latitude", "longitude"], rows, ",")]],
      columns: ["latitude", "longitude"],
      scale: "none",
    };
  },
  "wages with a weight for each person": (own) => {
    const rows = rowsOf(
      240,
      [
        (row) => `P-${row * 31}`,
        (_, { random }) => own.number(0.4 + 1.5 * random(), 4),
        (row, { normal }) => own.number(Math.exp(7.5 + 0.8 * group(row) + 1.1 * normal()), 2),
        measure(own, 38, 3, 1),
        pick([said(own, "single", "ledig", "célibataire"), said(own, "married", "verheiratet", "marié")]),
      ],
      56,
    );
    return {
      files: [["wages.csv", csv(["person_id", "person_weight", "wage", "hours", "status"], rows, own.delimiter)]],
      columns: ["wage", "hours", "status"],
      categories: ["status"],
      scale: "log",
    };
  },
  "questionnaires with 99 for no answer": (own) => {
    const answer = (row: number, random: number) => 1 + Math.min(6, Math.floor(random * 4 + 1.5 * group(row)));
    const names = Array.from({ length: 6 }, (_, i) => said(own, `item${i + 1}`, `frage${i + 1}`, `question${i + 1}`));
    const rows = rowsOf(
      200,
      [
        counter,
        ...names.map(
          () =>
            (row: number, { random }: { random(): number }) =>
              random() < 0.03 ? 99 : answer(row, random()),
        ),
      ],
      57,
    );
    return {
      files: [["items.csv", csv(["respondent_id", ...names], rows, own.delimiter)]],
      columns: names,
      scale: "none",
    };
  },
  "machines with identifiers of every sort": (own) => {
    const hex = (row: number) => (row * 2_654_435_761).toString(16).padStart(12, "0").slice(-12);
    const rows = rowsOf(
      190,
      [
        (row) => `${hex(row).slice(0, 8)}-0000-4000-8000-${hex(row)}`,
        (row) => `10.0.${row % 250}.${(row * 7) % 250}`,
        (row) => `+49 30 ${100_000 + row * 41}`,
        measure(own, 61, 5, 1),
        measure(own, 2400, 260, 0),
        pick(["v1", "v2", "v3"]),
        (row) => sentence(row),
      ],
      58,
    );
    return {
      files: [
        ["machines.csv", csv(["uuid", "ip", "phone", "celsius", "rpm", "firmware", "notes"], rows, own.delimiter)],
      ],
      columns: ["celsius", "rpm", "firmware"],
      categories: ["firmware"],
      scale: "standard",
    };
  },
};

const made = (makers: Readonly<Record<string, Maker>>): Export[] =>
  Object.entries(makers).flatMap(([kind, make]) =>
    locales.map((locale) => {
      const { files, ...expected } = make(locale);
      const all = files.map(([name, content]) => new File([content as BlobPart], name));
      return { kind: `${kind}, ${locale.name}`, files: all, ...expected };
    }),
  );

export const tunedExports = made(tuned);
export const heldOutExports = made(heldOut);
