/**
 * What only find's projections have: `$slice` on a path, `$elemMatch`, and the positional operator.
 *
 *     { "a.b": { $slice: [1, 2] } }             two elements of every array a.b, behind the first
 *     { grades: { $elemMatch: { $gt: 50 } } }   the first element that matches, in an array of its own
 *     { "grades.$": 1 }                         the element that the query matched
 *
 * `$slice` and the positional operator work on what the rest of the projection
 * has left, so that everything stays in its place.
 */
import {
  BsonType,
  DocumentWriter,
  array,
  asDocument,
  asNumber,
  document,
  elements,
  forEachField,
  getField,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { Expression, ExpressionOptions } from "../expression/context.js";
import { documentTest, singleValueTest } from "../filter/match.js";
import type { FilterNode } from "../filter/node.js";
import { isOperatorObject } from "../filter/operators.js";
import { parseFilter, parsePath } from "../filter/parse.js";
import { matchedPosition } from "../filter/position.js";
import { setPath, EditableNode } from "../values/editor.js";
import { typeName } from "../values/types.js";
import { fieldPathParts } from "./fieldPaths.js";

/** A change of the projected document. @param original the document before the projection */
export type AfterProjection = (projected: Uint8Array, original: Uint8Array) => Uint8Array;

/** The arguments of find's `$slice`. */
export interface SliceArguments {
  readonly skip: number | undefined;
  readonly limit: number;
}

/** A number as MongoDB cuts it down to 32 bits. */
function toInt32(v: RawValue): number {
  const n = asNumber(v);
  if (Number.isNaN(n)) return 0;
  return Math.trunc(Math.min(Math.max(n, -(2 ** 31)), 2 ** 31 - 1));
}

/** Reads find's `$slice`; the error says why it is none: it may still be the aggregation operator. */
export function readSlice(argument: RawValue): SliceArguments | CommandError {
  if (isNumeric(argument)) return { skip: undefined, limit: toInt32(argument) };
  if (argument.type !== BsonType.array)
    return new CommandError(31273, "$slice only supports numbers and [skip, limit] arrays");
  const [skip, limit, more] = elements(asDocument(argument));
  if (skip === undefined || limit === undefined || more !== undefined)
    return new CommandError(31272, "$slice array argument should be of form [skip, limit]");
  if (!isNumeric(skip)) {
    return new CommandError(31257, `$slice expects the skip argument to be a number, got ${typeName(skip)}`);
  }
  if (!isNumeric(limit)) {
    return new CommandError(
      31258,
      `$slice expects the limit argument to be a number, got ${typeName(limit)}`,
    );
  }
  const n = toInt32(limit);
  if (n <= 0) return new CommandError(31259, `$slice limit must be positive, got ${n}`);
  return { skip: toInt32(skip), limit: n };
}

/** Shortens the arrays at a path; arrays on the way are entered, arrays within arrays are not. */
export function slice(path: string, { skip, limit }: SliceArguments): AfterProjection {
  const parts = fieldPathParts(path);
  const cut = (values: RawValue[]): RawValue[] => {
    if (skip === undefined) return limit >= 0 ? values.slice(0, limit) : values.slice(limit);
    const from = skip >= 0 ? skip : Math.max(0, values.length + skip);
    return values.slice(from, from + limit);
  };
  const inObject = (doc: Uint8Array, at: number): Uint8Array => {
    const name = parts[at]!;
    const value = getField(doc, name);
    const changed = value && below(value, at);
    if (changed === undefined) return doc;
    const writer = new DocumentWriter();
    forEachField(doc, (field, own) => void writer.field(field, field === name ? changed : own));
    return writer.finish();
  };
  const below = (value: RawValue, at: number): RawValue | undefined => {
    const last = at === parts.length - 1;
    if (value.type === BsonType.object)
      return last ? undefined : document(inObject(asDocument(value), at + 1));
    if (value.type !== BsonType.array) return undefined;
    const values = elements(asDocument(value));
    if (last) return array(cut(values));
    return array(
      values.map((element) =>
        element.type === BsonType.object ? document(inObject(asDocument(element), at + 1)) : element,
      ),
    );
  };
  return (projected) => inObject(projected, 0);
}

/**
 * `$elemMatch`: an array of the first element that matches; missing where none does.
 * @throws CommandError 31274 for an argument that is no object, and what the filter throws
 */
export function elemMatch(path: string, argument: RawValue, options: ExpressionOptions): Expression {
  if (argument.type !== BsonType.object) {
    throw new CommandError(
      31274,
      `elemMatch: Invalid argument, object required, but got ${typeName(argument)}`,
    );
  }
  const doc = asDocument(argument);
  const test = isOperatorObject(doc)
    ? singleValueTest(parsePath("", argument, options), false)
    : objectTest(documentTest(parseFilter(doc, options)));
  return ({ root }) => {
    const value = getField(root, path);
    if (value?.type !== BsonType.array) return undefined;
    const found = elements(asDocument(value)).find(test);
    return found === undefined ? undefined : array([found]);
  };
}

function objectTest(test: (doc: Uint8Array) => boolean): (v: RawValue) => boolean {
  return (v) => (v.type === BsonType.object || v.type === BsonType.array) && test(asDocument(v));
}

/**
 * The positional operator: the first array on the path is cut down to the element that the filter matched. A path
 * without an array stays as it is.
 */
export function positional(path: string, filter: FilterNode, options: ExpressionOptions): AfterProjection {
  const parts = fieldPathParts(path);
  return (projected, original) => {
    let object = projected;
    for (let i = 0; i < parts.length; i++) {
      const value = getField(object, parts[i]!);
      if (value?.type === BsonType.array) {
        const root = EditableNode.of(projected);
        setPath(root, parts.slice(0, i + 1), array([matched(value, original)]));
        return root.toDocument();
      }
      if (value?.type !== BsonType.object) break;
      object = asDocument(value);
    }
    return projected;
  };

  function matched(list: RawValue, original: Uint8Array): RawValue {
    const position = matchedPosition(filter, original, options);
    if (position === undefined)
      throw new CommandError(51246, "positional operator '.$' couldn't find a matching element in the array");
    const element = elements(asDocument(list))[position];
    if (element === undefined) throw new CommandError(51247, "positional operator '.$' element mismatch");
    return element;
  }
}
