// Every public name of the package says in a comment what it is, and so does every option: an editor shows it.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(`${folder}package.json`, "utf8")) as {
  readonly exports: Record<string, { readonly source: string }>;
};

const entries = Object.values(manifest.exports).map(({ source }) => `${folder}${source.slice(2)}`);
const program = ts.createProgram(entries, {
  ...{ allowImportingTsExtensions: true, noEmit: true, strict: true, target: ts.ScriptTarget.ES2023 },
  ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
});
const checker = program.getTypeChecker();

function exportsOf(file: string): readonly { readonly name: string; readonly symbol: ts.Symbol }[] {
  const source = program.getSourceFile(file);
  const own = source && checker.getSymbolAtLocation(source);
  if (own === undefined) throw new Error(`${file} exports nothing`);
  return checker.getExportsOfModule(own).map((symbol) => {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return { name: symbol.name, symbol: declared(isAlias ? checker.getAliasedSymbol(symbol) : symbol) };
  });
}

/** What a destructured function is documented as, where it was made. */
function declared(symbol: ts.Symbol): ts.Symbol {
  const declaration = symbol.valueDeclaration;
  if (declaration === undefined || !ts.isBindingElement(declaration)) return symbol;
  const { initializer } = declaration.parent.parent as ts.VariableDeclaration;
  return (initializer && checker.getTypeAtLocation(initializer).getProperty(symbol.name)) ?? symbol;
}

/** A tag such as @internal is no documentation, but says that none is wanted. */
const isDocumented = (symbol: ts.Symbol) =>
  symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0;

/** The main file of a worker is a program, and exports nothing. */
const documented = Object.keys(manifest.exports).filter((path) => path !== "./worker");

test.each(documented)("every export of %s has a comment, and every option of it", (path) => {
  const entry = `${folder}${manifest.exports[path].source.slice(2)}`;
  const found = exportsOf(entry);
  expect(found.length).toBeGreaterThan(0);
  const bare = found.flatMap(({ name, symbol }) => {
    const options = /Options$/.test(name) ? checker.getDeclaredTypeOfSymbol(symbol).getProperties() : [];
    const members = options.filter((option) => !isDocumented(option)).map((option) => `${name}.${option.name}`);
    return isDocumented(symbol) ? members : [name, ...members];
  });
  expect(bare).toEqual([]);
});
