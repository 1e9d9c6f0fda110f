/** A filter tree back as a document, in the normal form that explain shows as `parsedQuery`. */
import {
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  array,
  document,
  int32,
  int64,
  type RawValue,
} from "../../bson/index.js";
import type { FilterNode, PathNode } from "./node.js";
import { regexValue } from "./regex.js";

/**
 * The document form of a tree, every operator written out.
 * @example `{ n: 5, m: { $ne: 1 } }` → `{ $and: [ { n: { $eq: 5 } }, { m: { $not: { $eq: 1 } } } ] }`
 */
export function filterDocument(node: FilterNode): Uint8Array {
  switch (node.op) {
    case "and":
      return node.children.length === 0 ? new DocumentWriter().finish() : branches("$and", node.children);
    case "or":
    case "nor":
      return branches(`$${node.op}`, node.children);
    case "not":
      return negation(node.child);
    case "expr":
      return new DocumentWriter().field("$expr", node.source).finish();
    case "jsonSchema":
      return new DocumentWriter().field("$jsonSchema", node.source).finish();
    case "sampleRate":
      // MongoDB shows what it makes of it.
      return new DocumentWriter().document("$expr", chance(node.rate)).finish();
    case "alwaysFalse":
      return new DocumentWriter().int32("$alwaysFalse", 1).finish();
    default:
      return new DocumentWriter().document(node.path, predicate(node)).finish();
  }
}

/** `{ $lt: [ { $rand: {} }, { $const: rate } ] }` */
function chance(rate: number): Uint8Array {
  const random = new DocumentWriter().document("$rand", EMPTY_DOCUMENT).finish();
  const constant = new DocumentWriter().double("$const", rate).finish();
  return new DocumentWriter().values("$lt", [document(random), document(constant)]).finish();
}

function branches(name: string, children: readonly FilterNode[]): Uint8Array {
  return new DocumentWriter().arrayOf(name, children.map(filterDocument)).finish();
}

/** `$not` where one path is concerned, `$nor` elsewhere: both say the same. */
function negation(child: FilterNode): Uint8Array {
  if ("path" in child) {
    const inner = new DocumentWriter().document("$not", predicate(child)).finish();
    return new DocumentWriter().document(child.path, inner).finish();
  }
  return branches("$nor", [child]);
}

function predicate(node: PathNode): Uint8Array {
  const writer = new DocumentWriter();
  switch (node.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return writer.field(`$${node.op}`, node.value).finish();
    case "in":
      return writer.values("$in", [...node.values, ...node.regexes.map(regexValue)]).finish();
    case "regex":
      writer.string("$regex", node.pattern.source);
      if (node.pattern.flags !== "") writer.string("$options", node.pattern.flags);
      return writer.finish();
    case "exists":
      return writer.bool("$exists", true).finish();
    case "type":
      return writer
        .values(
          "$type",
          node.types.map((type) => int32(type === BsonType.minKey ? -1 : type)),
        )
        .finish();
    case "mod":
      return writer.field("$mod", array([int64(node.divisor), int64(node.remainder)])).finish();
    case "size":
      return writer.int32("$size", node.size).finish();
    case "bits":
      return writer.field(`$${node.kind}`, shownBits(node.source, node.positions)).finish();
    case "elemMatch":
      return writer
        .field(
          "$elemMatch",
          node.of === "object" ? document(filterDocument(node.child)) : operators(node.child),
        )
        .finish();
  }
}

/** Operators without a path, as they stand inside a value `$elemMatch`. */
function operators(node: FilterNode): RawValue {
  const writer = new DocumentWriter();
  for (const child of node.op === "and" ? node.children : [node]) {
    if ("path" in child) writer.fieldsOf(predicate(child));
    else if (child.op === "not" && "path" in child.child) writer.document("$not", predicate(child.child));
    else writer.fieldsOf(filterDocument(child));
  }
  return document(writer.finish());
}

/** Numbers and binary data are shown as the positions they stand for, unless those are very many. */
function shownBits(source: RawValue, positions: Iterable<number>): RawValue {
  const values: RawValue[] = [];
  for (const position of positions) {
    if (values.length === MAX_SHOWN_POSITIONS) return source;
    values.push(int32(position));
  }
  return array(values);
}

const MAX_SHOWN_POSITIONS = 100_000;
