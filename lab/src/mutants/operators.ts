// Small errors of the kind a careless change makes, found in a source file: turned comparisons, bounds off by one, dropped
// conditions and calls, other constants.

import ts from "typescript";

/** One place of a file and what stands there instead. */
export interface SmallError {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const turned: Readonly<Record<string, readonly string[]>> = {
  "<": [">=", "<="],
  "<=": [">", "<"],
  ">": ["<=", ">="],
  ">=": ["<", ">"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "<<": [">>"],
};

/** A name that is called or read, and the one that is easily taken for it. */
const mistaken: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  ceil: "floor",
  floor: "ceil",
  round: "floor",
  some: "every",
  every: "some",
};

/** Every small error of a TypeScript source, in the order of the text. */
export function smallErrors(source: string): SmallError[] {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const errors: SmallError[] = [];
  const put = (node: ts.Node, replacement: string) =>
    errors.push({ start: node.getStart(file), end: node.getEnd(), replacement });
  const visit = (node: ts.Node): void => {
    // What has no meaning when it runs: types, and the names of modules.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const { left, operatorToken, right } = node;
      const sign = operatorToken.getText(file);
      if (sign === "&&" || sign === "||") {
        put(node, left.getText(file));
        put(node, right.getText(file));
      }
      const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
      if (!(sign === "+" && isText)) for (const other of turned[sign] ?? []) put(operatorToken, other);
    } else if (ts.isIfStatement(node)) {
      put(node.expression, "false");
    } else if (ts.isConditionalExpression(node)) {
      put(node.condition, "false");
    } else if (ts.isExpressionStatement(node) && isDroppable(node.expression)) {
      put(node, "void 0;");
    } else if (ts.isNumericLiteral(node)) {
      put(node, String(Number(node.text) + 1));
    } else if (ts.isBigIntLiteral(node)) {
      put(node, `${BigInt(node.text.slice(0, -1)) + 1n}n`);
    } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
      put(node, node.kind === ts.SyntaxKind.TrueKeyword ? "false" : "true");
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      put(node, node.operand.getText(file));
    } else if (ts.isPropertyAccessExpression(node) && mistaken[node.name.text] !== undefined) {
      put(node.name, mistaken[node.name.text]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return errors;
}

/** A call that is made for what it does. The parent's constructor must be called, or nothing runs at all. */
function isDroppable(expression: ts.Expression): boolean {
  const made = ts.isAwaitExpression(expression) ? expression.expression : expression;
  return ts.isCallExpression(made) && made.expression.kind !== ts.SyntaxKind.SuperKeyword;
}
