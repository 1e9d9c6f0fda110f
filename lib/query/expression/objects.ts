/** Objects and variables: `$mergeObjects $objectToArray $arrayToObject $getField $let`. */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  asString,
  document,
  elements,
  fields,
  getField,
  string,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import { isNullish, unary, variadic, type Argument, type OperatorCompiler } from "./arguments.js";
import { listOf } from "./arrays.js";
import { compile, constantOf } from "./compile.js";
import { bind, type Expression } from "./context.js";
import { checkVariableName, namedArguments } from "./fieldPath.js";

/** Later values of a name win and keep the first one's place. */
function mergeObjects(values: readonly Argument[]): Argument {
  const members = new Map<string, RawValue>();
  for (const v of values) {
    if (isNullish(v)) continue;
    if (v.type !== BsonType.object) {
      throw new CommandError(
        40400,
        `$mergeObjects requires object inputs, but input is of type ${typeName(v)}`,
      );
    }
    for (const [name, value] of fields(asDocument(v))) members.set(name, value);
  }
  return objectOf(members);
}

function objectOf(members: Iterable<[string, RawValue]>): RawValue {
  const writer = new DocumentWriter();
  for (const [name, value] of members) writer.field(name, value);
  return document(writer.finish());
}

function objectToArray(v: Argument): Argument {
  if (isNullish(v)) return NULL;
  if (v.type !== BsonType.object) {
    throw new CommandError(40390, `$objectToArray requires a document input, found: ${typeName(v)}`);
  }
  return array(
    fields(asDocument(v)).map(([k, value]) =>
      objectOf([
        ["k", string(k)],
        ["v", value],
      ]),
    ),
  );
}

function arrayToObject(v: Argument): Argument {
  if (isNullish(v)) return NULL;
  const members = new Map<string, RawValue>();
  for (const entry of listOf(v, 40386, (type) => `$arrayToObject requires an array input, found: ${type}`)) {
    let key: Argument;
    let value: Argument;
    if (entry.type === BsonType.array) [key, value] = elements(asDocument(entry));
    else if (entry.type === BsonType.object) {
      key = getField(asDocument(entry), "k");
      value = getField(asDocument(entry), "v");
    }
    if (key?.type !== BsonType.string || value === undefined) {
      throw new CommandError(40398, `$arrayToObject requires [key, value] pairs or objects with 'k' and 'v'`);
    }
    members.set(asString(key), value);
  }
  return objectOf(members);
}

/** `{ $getField: "name" }` or `{ $getField: { field, input } }`: a name is taken literally, dots and dollars included. */
const getFieldOperator: OperatorCompiler = (argument, scope, name) => {
  let fieldArgument = argument;
  let input: Expression = ({ root }) => document(root);
  if (argument.type === BsonType.object && getField(asDocument(argument), "field") !== undefined) {
    const named = namedArguments(name, argument, ["field", "input"], 3041701);
    fieldArgument = named.get("field")!;
    const inputArgument = named.get("input");
    if (inputArgument === undefined)
      throw new CommandError(3041703, "$getField requires 'input' to be specified");
    input = compile(inputArgument, scope);
  }
  const field = constantOf(compile(fieldArgument, scope));
  if (field?.type !== BsonType.string) {
    throw new CommandError(5654602, "$getField requires 'field' to evaluate to a constant string");
  }
  const fieldName = asString(field);
  return (context) => {
    const v = input(context);
    if (v?.type === BsonType.object) return getField(asDocument(v), fieldName);
    return v !== undefined && isNullish(v) ? NULL : undefined;
  };
};

const letOperator: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(name, argument, ["vars", "in"], 16874);
  const vars = named.get("vars");
  const body = named.get("in");
  if (vars === undefined) throw new CommandError(16876, "Missing 'vars' parameter to $let");
  if (body === undefined) throw new CommandError(16877, "Missing 'in' parameter to $let");
  let inner = scope;
  const assigned = fields(asDocument(vars)).map(([variable, value]) => {
    checkVariableName(variable);
    const expression = compile(value, scope); // variables don't see each other
    const bound = bind(inner, variable);
    inner = bound.scope;
    return { expression, slot: bound.slot };
  });
  const each = compile(body, inner);
  return (context) => {
    const values = assigned.map(({ expression }) => expression(context));
    assigned.forEach(({ slot }, i) => (context.slots[slot] = values[i]));
    return each(context);
  };
};

export const OBJECTS: Readonly<Record<string, OperatorCompiler>> = {
  $mergeObjects: variadic(mergeObjects),
  $objectToArray: unary(objectToArray),
  $arrayToObject: unary(arrayToObject),
  $getField: getFieldOperator,
  $let: letOperator,
};
