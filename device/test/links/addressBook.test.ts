// Where linked peers may be found: in which order addresses are tried, and how few are kept.

import { expect, test } from "vitest";
import { addressBook } from "../../src/links/addressBook.ts";

const many = Array.from({ length: 20 }, (_, n) => `/ip4/10.0.0.${n}/tcp/1`);

test("of gives the owner's addresses first, and every address its turn where those before it fail", () => {
  const book = addressBook({ a: ["met"] });
  book.setLinks([{ peer: "a", addresses: ["one", "two", "met"] }]);
  expect(book.nearby("a", ["near"])).toBe(true);
  expect(book.of("a")).toEqual(["one", "two", "met", "near"]);
  for (const address of ["one", "two", "one"]) book.failed("a", address);
  expect(book.of("a")).toEqual(["met", "near", "two", "one"]);
  book.reached("a");
  expect(book.of("a")).toEqual(["one", "two", "met", "near"]);
});

test("of gives direct addresses before relays, unless they failed more often", () => {
  const book = addressBook({ a: ["/p2p/north/p2p-circuit", "direct"] });
  book.setLinks([{ peer: "a", addresses: [] }]);
  expect(book.of("a")).toEqual(["direct", "/p2p/north/p2p-circuit"]);
  book.failed("a", "direct");
  expect(book.of("a")).toEqual(["/p2p/north/p2p-circuit", "direct"]);
});

test("met and nearby replace what was said before, keep eight, and say whether that is news", () => {
  const book = addressBook({});
  book.setLinks([{ peer: "a", addresses: [] }]);
  expect(book.met("a", many)).toBe(true);
  expect(book.met("a", many)).toBe(false);
  expect(book.met("stranger", many)).toBe(false);
  expect(book.remembered()).toEqual({ a: many.slice(0, 8) });
  expect(book.met("a", ["here"])).toBe(true);
  expect(book.of("a")).toEqual(["here"]);
  expect(book.nearby("a", many)).toBe(true);
  expect(book.remembered()).toEqual({ a: ["here"] });
});

test("setLinks forgets everything about a peer that is not linked any more, and says who that is", () => {
  const book = addressBook({ a: many, stranger: many });
  expect(book.setLinks([{ peer: "a", addresses: ["one"] }])).toEqual([]);
  expect(book.setLinks([{ peer: "b", addresses: [] }])).toEqual(["a"]);
  expect([book.peers(), book.of("a"), book.remembered()]).toEqual([["b"], [], {}]);
});
