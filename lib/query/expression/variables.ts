/**
 * Variables: `"$$ROOT"`, `"$$NOW"`, `"$$item.qty"`.
 *
 * A name is looked for from the inside out: bound by `$let`, `$map` and their
 * like; set from outside (`$lookup`'s `let`); built in; given by the command's
 * `let`. The values of `let` are expressions of constants, evaluated once per
 * command, each one seeing those before it.
 */
import { EMPTY_DOCUMENT, array, date, document, fields, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { compile, constant } from "./compile.js";
import {
  expressionContext,
  type Expression,
  type ExpressionOptions,
  type ExternalVariable,
  type Scope,
} from "./context.js";
import { pathParts, valueAtPath } from "./fieldPath.js";

/** The expression `"$$name.path"`. */
export function compileVariable(reference: string, scope: Scope): Expression {
  const dot = reference.indexOf(".");
  const name = dot === -1 ? reference : reference.slice(0, dot);
  checkReadableName(name);
  if (reference.endsWith(".")) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  const parts = dot === -1 ? [] : pathParts(reference.slice(dot + 1));
  const base = variable(name, scope);
  if (parts.length === 0) return base;
  return (context) => valueAtPath(base(context), parts, 0);
}

function variable(name: string, scope: Scope): Expression {
  const bound = boundVariable(name, scope);
  if (bound !== undefined) return bound;
  const external = scope.options.variables?.get(name);
  if (external !== undefined) return () => external.value;
  switch (name) {
    case "ROOT":
    case "CURRENT":
      checkDocument(scope);
      return ({ root }) => document(root);
    case "REMOVE":
      return () => undefined;
    case "NOW":
      return constant(startOf(scope.options));
    case "CLUSTER_TIME":
    case "JS_SCOPE":
    case "IS_MR":
      throw new CommandError(51144, `Builtin variable '$$${name}' is not available`);
    case "USER_ROLES":
      return constant(array([])); // there are no users
    case "SEARCH_META":
      throw notSimulated("$$SEARCH_META");
  }
  const given = letValues(scope.options).get(name);
  if (given === undefined) throw new CommandError(17276, `Use of undefined variable: ${name}`);
  return given.value === undefined ? () => undefined : constant(given.value);
}

/** A variable of an enclosing `$let`, `$map`, …; undefined where none binds the name. */
export function boundVariable(name: string, scope: Scope): Expression | undefined {
  for (let binding = scope.binding; binding !== undefined; binding = binding.outer) {
    if (binding.name !== name) continue;
    const { slot } = binding;
    return (context) => context.slots[slot];
  }
  return undefined;
}

/** Throws 4890500 where an expression of the command's `let` wants to see a document. */
export function checkDocument(scope: Scope): void {
  if (scope.withoutDocument) {
    throw new CommandError(
      4890500,
      "Command let Expression tried to access a field, but this is not allowed because Command let Expressions run before the query examines any documents.",
    );
  }
}

const starts = new WeakMap<ExpressionOptions, RawValue>();

/** `$$NOW` is the same for all documents of a command. */
function startOf(options: ExpressionOptions): RawValue {
  let start = starts.get(options);
  if (start === undefined) {
    if (options.now === undefined) throw notSimulated("$$NOW here");
    start = date(Math.trunc(options.now()));
    starts.set(options, start);
  }
  return start;
}

const NO_VALUES: ReadonlyMap<string, ExternalVariable> = new Map();
const evaluated = new WeakMap<Uint8Array, ReadonlyMap<string, ExternalVariable>>();

/** The values of the command's `let` by name. Throws 4890500 for one that refers to a field. */
function letValues(options: ExpressionOptions): ReadonlyMap<string, ExternalVariable> {
  if (options.let === undefined) return NO_VALUES;
  let values = evaluated.get(options.let);
  if (values === undefined) {
    const known = new Map<string, ExternalVariable>();
    // The names so far are external variables of the next value.
    const { let: _, ...rest } = options;
    const scope: Scope = {
      options: { ...rest, variables: known },
      binding: undefined,
      depth: 0,
      withoutDocument: true,
    };
    if (options.now !== undefined) starts.set(scope.options, startOf(options));
    for (const [name, value] of fields(options.let)) {
      checkVariableName(name);
      known.set(name, { value: compile(value, scope)(expressionContext(EMPTY_DOCUMENT)) });
    }
    evaluated.set(options.let, known);
    values = known;
  }
  return values;
}

/**
 * Evaluates a `let` ahead of its use, so that its errors don't wait for somebody to read a variable.
 * @throws CommandError 9 for a bad name, 4890500 for a value that refers to a document's field
 */
export function checkLet(options: ExpressionOptions): void {
  letValues(options);
}

/**
 * The value of an expression that needs no document: a constant, a variable of `let`, an operator on such.
 * Undefined where it needs one or gives none, and where it fails: who runs it will say so.
 */
export function constantValue(v: RawValue, options: ExpressionOptions = {}): RawValue | undefined {
  // What is set from outside between evaluations (`$lookup`'s `let`) is not constant, and may hide the command's.
  const { variables, let: given, ...rest } = options;
  const known: ExpressionOptions = given && !variables ? { ...rest, let: given } : rest;
  if (options.now !== undefined) starts.set(known, startOf(options));
  const scope: Scope = { options: known, binding: undefined, depth: 0, withoutDocument: true };
  try {
    return compile(v, scope)(expressionContext(EMPTY_DOCUMENT));
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

function checkRest(name: string): void {
  const bad = /[^A-Za-z0-9_\u0080-\uffff]/.exec(name.slice(1));
  if (bad) throw invalid(`'${name}' contains an invalid character for a variable name: '${bad[0]}'`);
}

/** Checks the name of a variable that a user binds: it begins with a small letter. */
export function checkVariableName(name: string): void {
  if (name === "CURRENT") return;
  if (name === "") throw invalid("empty variable names are not allowed");
  if (!/^[a-z\u0080-\uffff]/.test(name)) {
    throw invalid(`'${name}' starts with an invalid character for a user variable name`);
  }
  checkRest(name);
}

/** Checks the name of a variable that is read: built-in ones begin with capitals. */
function checkReadableName(name: string): void {
  if (name === "") throw invalid("empty variable names are not allowed");
  if (!/^[A-Za-z\u0080-\uffff]/.test(name)) {
    throw invalid(`'${name}' starts with an invalid character for a variable name`);
  }
  checkRest(name);
}
