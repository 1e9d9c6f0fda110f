/**
 * Questions about a cell's syntax that the transform asks: which names a statement
 * declares, and which identifiers are uses of a value.
 */
import type { Expression, HasModifiers, Identifier, Node, Statement } from "typescript";
import { boundNames, importedNames, isAmbient, nestedVars } from "./source.js";
import { ts } from "./typescript.js";

/** The `var`s of a statement: the whole cell's, and there from its start. */
export function hoistedVars(statement: Statement): Identifier[] {
  return ts.canHaveModifiers(statement) && isAmbient(statement as HasModifiers) ? [] : nestedVars(statement);
}

/** The names of a statement that are values of ours. */
export function valueNames(statement: Statement, own: boolean): Identifier[] {
  if (own && ts.canHaveModifiers(statement) && isAmbient(statement as HasModifiers)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  }
  if (ts.isImportDeclaration(statement)) return importedNames(statement);
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isModuleDeclaration(statement) ||
    ts.isImportEqualsDeclaration(statement);
  if (named) return statement.name && ts.isIdentifier(statement.name) ? [statement.name] : [];
  return nestedVars(statement);
}

/** `(inc as any)!` → `inc`: what is left of an expression when types and parentheses are gone. */
export function withoutWrapping(expression: Expression): Expression {
  const wraps =
    ts.isParenthesizedExpression(expression) ||
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression) ||
    ts.isNonNullExpression(expression) ||
    ts.isTypeAssertionExpression(expression);
  return wraps ? withoutWrapping(expression.expression) : expression;
}

/** Syntax that is gone after compiling: nothing in it is a reference. */
export function isTypeSyntax(node: Node): boolean {
  if (ts.isExpressionWithTypeArguments(node)) return false;
  if (ts.isHeritageClause(node)) return node.token === ts.SyntaxKind.ImplementsKeyword;
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeParameterDeclaration(node)
  );
}

/** Is an identifier used as a value, rather than being a name in a declaration, a member access or a label? */
export function isReference(node: Identifier): boolean {
  const parent = node.parent as Node & { name?: Node; propertyName?: Node; label?: Node };
  if (parent === undefined) return false;
  if (parent.name === node || parent.propertyName === node || parent.label === node) return false;
  return !ts.isImportClause(parent) && !ts.isExportSpecifier(parent);
}
