/**
 * Objects and variables: `$objectToArray $arrayToObject $getField $setField
 * $unsetField $let`. (`$mergeObjects` is an accumulator as well: aggregate.ts.)
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  asString,
  describeValue,
  document,
  elements,
  fields,
  firstField,
  getField,
  string,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import { isNullish, namedArguments, unary, type Argument, type OperatorCompiler } from "./arguments.js";
import { listOf } from "./arrays.js";
import { compile, constantOf } from "./compile.js";
import { bind, type Expression, type Scope } from "./context.js";
import { checkSize } from "./limits.js";
import { checkVariableName, compileVariable } from "./variables.js";

function objectOf(members: Iterable<[string, RawValue]>): RawValue {
  const writer = new DocumentWriter();
  let bytes = 0;
  for (const [name, value] of members) {
    bytes += value.end - value.start;
    checkSize(bytes, "$object");
    writer.field(name, value);
  }
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

/** From `[[k, v], …]` or `[{ k, v }, …]`; the first entry decides which. Of equal keys the last value wins. */
function arrayToObject(v: Argument): Argument {
  if (isNullish(v)) return NULL;
  const list = listOf(v, 40386, (type) => `$arrayToObject requires an array input, found: ${type}`);
  const members = new Map<string, RawValue>();
  if (list.length === 0) return objectOf(members);
  const { type } = list[0]!;
  if (type !== BsonType.array && type !== BsonType.object) {
    throw new CommandError(40398, `Unrecognised input type format for $arrayToObject: ${typeName(list[0])}`);
  }
  for (const entry of list) {
    const [key, value] = type === BsonType.array ? pairOfArray(entry) : pairOfObject(entry);
    members.set(key, value);
  }
  return objectOf(members);
}

function inconsistent(code: number, detected: string, entry: RawValue): CommandError {
  return new CommandError(
    code,
    `$arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. ${detected} was detected, now found: ${typeName(entry)}`,
  );
}

function pairOfArray(entry: RawValue): [string, RawValue] {
  if (entry.type !== BsonType.array) throw inconsistent(40396, "Array", entry);
  const pair = elements(asDocument(entry));
  if (pair.length !== 2) {
    throw new CommandError(
      40397,
      `$arrayToObject requires an array of size 2 arrays,found array of size: ${pair.length}`,
    );
  }
  if (pair[0]!.type !== BsonType.string) {
    throw new CommandError(
      40395,
      `$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: ${typeName(pair[0])}`,
    );
  }
  return [keyOf(pair[0]!, 4940400), pair[1]!];
}

function pairOfObject(entry: RawValue): [string, RawValue] {
  if (entry.type !== BsonType.object) throw inconsistent(40391, "Object", entry);
  const pair = new Map(fields(asDocument(entry)));
  if (pair.size !== 2) {
    throw new CommandError(
      40392,
      `$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:${pair.size}`,
    );
  }
  const key = pair.get("k");
  const value = pair.get("v");
  if (key === undefined || value === undefined) {
    throw new CommandError(
      40393,
      `$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: ${describeValue(entry)}`,
    );
  }
  if (key.type !== BsonType.string) {
    throw new CommandError(
      40394,
      `$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: ${typeName(key)}`,
    );
  }
  return [keyOf(key, 4940401), value];
}

function keyOf(key: RawValue, code: number): string {
  const text = asString(key);
  if (text.includes("\0")) throw new CommandError(code, "Key field cannot contain an embedded null byte");
  return text;
}

/**
 * `{ $getField: name }` or `{ $getField: { field, input } }`. The name is taken as it is, dots and dollars
 * included; it may be any expression that gives a string.
 */
const getFieldOperator: OperatorCompiler = (argument, scope, name) => {
  let field: Expression;
  let input: Expression;
  const isNamed = argument.type === BsonType.object && !firstField(asDocument(argument))?.[0].startsWith("$");
  if (isNamed) {
    const named = namedArguments(argument, ["field", "input"], {
      object: [3041701, ""],
      unknown: [3041701, "$getField found an unknown argument: "],
      required: {
        field: [3041702, "$getField requires 'field' to be specified"],
        input: [3041703, "$getField requires 'input' to be specified"],
      },
    });
    field = compile(named.get("field")!, scope);
    input = compile(named.get("input")!, scope);
  } else {
    field = compile(argument, scope);
    input = compileVariable("CURRENT", scope);
  }
  const fixed = constantOf(field);
  const fixedName = fixed?.type === BsonType.string ? asString(fixed) : undefined;
  return (context) => {
    const wanted = fixedName ?? fieldName(field(context), name);
    const v = input(context);
    if (v?.type === BsonType.object)
      return wanted.includes("\0") ? undefined : getField(asDocument(v), wanted);
    return v !== undefined && isNullish(v) ? NULL : undefined;
  };
};

function fieldName(v: Argument, operator: string): string {
  if (v?.type === BsonType.string) return asString(v);
  throw new CommandError(
    3041704,
    `${operator} requires 'field' to evaluate to type String, but got ${typeName(v)}`,
  );
}

/** `$setField` and `$unsetField`: a copy of an object with one field set (in its place) or taken out. */
const setFieldOperator: OperatorCompiler = (argument, scope, name) => {
  const unsets = name === "$unsetField";
  const named = namedArguments(argument, unsets ? ["field", "input"] : ["field", "input", "value"], {
    object: [4161100, `${name} only supports an object as its argument`],
    unknown: [4161101, `${name} found an unknown argument: `],
    required: {
      field: [4161102, `${name} requires 'field' to be specified`],
      ...(!unsets && { value: [4161103, `${name} requires 'value' to be specified`] as const }),
      input: [4161109, `${name} requires 'input' to be specified`],
    },
  });
  const wanted = constantFieldName(named.get("field")!, scope, name);
  const input = compile(named.get("input")!, scope);
  const value = unsets ? () => undefined : compile(named.get("value")!, scope);
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    if (v.type !== BsonType.object) {
      throw new CommandError(4161105, "$setField requires 'input' to evaluate to type Object");
    }
    const set = value(context);
    checkSize(v.end - v.start + (set ? set.end - set.start : 0), name);
    const writer = new DocumentWriter();
    let met = false;
    for (const [field, old] of fields(asDocument(v))) {
      if (field !== wanted) writer.field(field, old);
      else {
        if (set !== undefined && !met) writer.field(field, set);
        met = true;
      }
    }
    if (!met && set !== undefined) writer.field(wanted, set);
    return document(writer.finish());
  };
};

function constantFieldName(argument: RawValue, scope: Scope, name: string): string {
  if (argument.type === BsonType.string && asString(argument).startsWith("$")) {
    const path = asString(argument);
    throw new CommandError(
      4161108,
      `'${path}' is a field path reference which is not allowed in this context. Did you mean {$literal: '${path}'}?`,
    );
  }
  const field = constantOf(compile(argument, scope));
  if (field === undefined) {
    throw new CommandError(
      4161106,
      `${name} requires 'field' to evaluate to a constant, but got a non-constant argument`,
    );
  }
  if (field.type !== BsonType.string) {
    throw new CommandError(
      4161107,
      `${name} requires 'field' to evaluate to type String, but got ${typeName(field)}`,
    );
  }
  return keyOf(field, 4161107);
}

const letOperator: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, ["vars", "in"], {
    object: [16874, "$let only supports an object as its argument"],
    unknown: [16875, "Unrecognized parameter to $let: "],
    required: {
      vars: [16876, "Missing 'vars' parameter to $let"],
      in: [16877, "Missing 'in' parameter to $let"],
    },
  });
  const vars = named.get("vars")!;
  if (vars.type !== BsonType.object) {
    throw new CommandError(10065, `invalid parameter: expected an object (vars)`);
  }
  let inner = scope;
  const assigned = fields(asDocument(vars)).map(([variable, value]) => {
    checkVariableName(variable);
    const expression = compile(value, scope); // variables don't see each other
    const bound = bind(inner, variable);
    inner = bound.scope;
    return { expression, slot: bound.slot };
  });
  const each = compile(named.get("in")!, inner);
  return (context) => {
    const values = assigned.map(({ expression }) => expression(context));
    assigned.forEach(({ slot }, i) => (context.slots[slot] = values[i]));
    return each(context);
  };
};

export const OBJECTS: Readonly<Record<string, OperatorCompiler>> = {
  $objectToArray: unary(objectToArray),
  $arrayToObject: unary(arrayToObject),
  $getField: getFieldOperator,
  $setField: setFieldOperator,
  $unsetField: setFieldOperator,
  $let: letOperator,
};
