/**
 * Makes running code stoppable: every loop and every function asks a shared flag
 * whether it should stop.
 *
 *     while (true) {}   →   while (true) { if ($$flag[0] !== 0) $$stop(); }
 *
 * A synchronous loop blocks the whole thread, so nothing but the loop itself can
 * end it without ending the process and with it the notebook's state. The flag
 * lies in shared memory, where another thread sets it; reading it costs about a
 * nanosecond. What to stop is decided in `$$stop` (see interrupt.ts).
 */
import type { Block, Expression, Node, NodeFactory, Statement } from "typescript";
import { ts } from "./typescript.js";

/** Puts the guard into a loop's body or a function's; gives every other node back as it is. */
export function guard(node: Node, factory: NodeFactory): Node {
  const f = factory;
  if (ts.isForStatement(node)) {
    return f.updateForStatement(
      node,
      node.initializer,
      node.condition,
      node.incrementor,
      block(node.statement, f),
    );
  }
  if (ts.isWhileStatement(node))
    return f.updateWhileStatement(node, node.expression, block(node.statement, f));
  if (ts.isDoStatement(node)) return f.updateDoStatement(node, block(node.statement, f), node.expression);
  if (ts.isForInStatement(node)) {
    return f.updateForInStatement(node, node.initializer, node.expression, block(node.statement, f));
  }
  if (ts.isForOfStatement(node)) {
    const { awaitModifier, initializer, expression } = node;
    return f.updateForOfStatement(node, awaitModifier, initializer, expression, block(node.statement, f));
  }
  return guardFunction(node, f);
}

function guardFunction(node: Node, f: NodeFactory): Node {
  if (ts.isArrowFunction(node)) {
    const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken: arrow } = node;
    const body = ts.isBlock(node.body) ? block(node.body, f) : guardedExpression(node.body, f);
    return f.updateArrowFunction(node, modifiers, typeParameters, parameters, type, arrow, body);
  }
  if (ts.isFunctionExpression(node)) {
    const { modifiers, asteriskToken, name, typeParameters, parameters, type, body } = node;
    return f.updateFunctionExpression(
      node,
      modifiers,
      asteriskToken,
      name,
      typeParameters,
      parameters,
      type,
      block(body, f),
    );
  }
  if (ts.isFunctionDeclaration(node) && node.body) {
    const { modifiers, asteriskToken, name, typeParameters, parameters, type, body } = node;
    return f.updateFunctionDeclaration(
      node,
      modifiers,
      asteriskToken,
      name,
      typeParameters,
      parameters,
      type,
      block(body, f),
    );
  }
  if (ts.isMethodDeclaration(node) && node.body) {
    const { modifiers, asteriskToken, name, questionToken, typeParameters, parameters, type, body } = node;
    return f.updateMethodDeclaration(
      node,
      modifiers,
      asteriskToken,
      name,
      questionToken,
      typeParameters,
      parameters,
      type,
      block(body, f),
    );
  }
  if (ts.isGetAccessorDeclaration(node) && node.body) {
    const { modifiers, name, parameters, type, body } = node;
    return f.updateGetAccessorDeclaration(node, modifiers, name, parameters, type, block(body, f));
  }
  if (ts.isSetAccessorDeclaration(node) && node.body) {
    const { modifiers, name, parameters, body } = node;
    return f.updateSetAccessorDeclaration(node, modifiers, name, parameters, block(body, f));
  }
  return node;
}

function block(statement: Statement, f: NodeFactory): Block {
  const inner = ts.isBlock(statement) ? statement.statements : [statement];
  const guarded = f.createBlock(
    [f.createIfStatement(mustStop(f), f.createExpressionStatement(stop(f))), ...inner],
    true,
  );
  return ts.setTextRange(guarded, statement);
}

function guardedExpression(expression: Expression, f: NodeFactory): Expression {
  const value = ts.isParenthesizedExpression(expression)
    ? expression
    : f.createParenthesizedExpression(expression);
  const check = f.createParenthesizedExpression(f.createLogicalAnd(mustStop(f), stop(f)));
  return f.createParenthesizedExpression(f.createComma(check, value));
}

function mustStop(f: NodeFactory): Expression {
  const flag = f.createElementAccessExpression(f.createIdentifier("$$flag"), 0);
  return f.createStrictInequality(flag, f.createNumericLiteral(0));
}

function stop(f: NodeFactory): Expression {
  return f.createCallExpression(f.createIdentifier("$$stop"), undefined, []);
}
