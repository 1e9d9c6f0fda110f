/**
 * Arguments that several administrative commands take.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  describeDocument,
  elements,
  firstField,
  sortableKey,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, checkNamespace, CommandError, ErrorCode, wrongFieldType } from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { optionalDocument, optionalField, wrongType } from "../context.js";
import { pinnedKey } from "../targeting/target.js";

/** A namespace taken apart. */
export interface Namespace {
  readonly ns: string;
  readonly db: string;
  readonly name: string;
}

/**
 * The namespace that a command's first element names in full: `{split: "library.loans"}`.
 * @throws CommandError InvalidNamespace (73), TypeMismatch (14)
 */
export function namespaceArgument(request: Request): Namespace {
  const value = firstField(request.body)?.[1];
  if (value?.type !== BsonType.string) {
    throw wrongFieldType(`${request.command}.${request.command}`, "string", value);
  }
  return namespaceOf(asString(value));
}

/**
 * A namespace taken apart and checked.
 * @throws CommandError InvalidNamespace (73)
 */
export function namespaceOf(ns: string): Namespace {
  const dot = ns.indexOf(".");
  const db = ns.slice(0, Math.max(dot, 0));
  if (dot < 0) throw new CommandError(ErrorCode.InvalidNamespace, `Invalid namespace specified '${ns}'`);
  const name = ns.slice(dot + 1);
  checkNamespace(db, name);
  return { ns, db, name };
}

/**
 * An argument that must be a string.
 * @throws CommandError Location40414 when absent, TypeMismatch (14)
 */
export function stringArgument(request: Request, name: string): string {
  const value = bodyField(request, name);
  if (!value) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${request.command}.${name}' is missing but a required field`,
    );
  }
  if (value.type !== BsonType.string) {
    throw wrongFieldType(`${request.command}.${name}`, "string", value);
  }
  return asString(value);
}

/**
 * A sharded collection that must exist.
 * @throws CommandError NamespaceNotSharded (118)
 */
export function mustBeSharded(collection: ShardedCollection | undefined, ns: string): ShardedCollection {
  if (collection) return collection;
  throw new CommandError(ErrorCode.NamespaceNotSharded, `Collection ${ns} is not sharded.`);
}

/**
 * An old-style usage error. MongoDB's text has no code of its own there; the
 * replies carry UnknownError (8) (facts-mongos.md §12.1).
 */
export function usageError(errmsg: string): CommandError {
  return new CommandError(ErrorCode.UnknownError, errmsg);
}

/** `find` and `bounds` of split and moveChunk. */
export interface ChunkArguments {
  readonly find: Uint8Array | undefined;
  readonly bounds: readonly RawValue[] | undefined;
}

/** Reads `find` and `bounds`. @throws CommandError TypeMismatch (14) */
export function chunkArguments(request: Request): ChunkArguments {
  const bounds = optionalField(request, "bounds");
  if (bounds && bounds.type !== BsonType.array) throw wrongType(request, "bounds", "array");
  return { find: optionalDocument(request, "find"), bounds: bounds && elements(asDocument(bounds)) };
}

/**
 * The chunk that a document with these key values belongs to: `{find: {memberId: 7}}`.
 * A hashed field is given by its original value.
 */
export function chunkByFind(collection: ShardedCollection, find: Uint8Array): Chunk {
  const pinned = pinnedKey(compileFilter(find).node, collection.key);
  if (!pinned) throw usageError(`no shard key found in chunk query ${describeDocument(find)}`);
  const point = collection.key.pointOf(pinned);
  return collection.chunks.chunk(collection.chunks.find(sortableKey(point)));
}

/** The chunk with exactly these bounds: `{bounds: [{x: 0}, {x: 10}]}`. A hashed field is given by its hash. */
export function chunkByBounds(collection: ShardedCollection, bounds: readonly RawValue[]): Chunk {
  const { key, chunks } = collection;
  const [low, high] = bounds;
  const text = (value: RawValue | undefined): string =>
    value?.type === BsonType.object ? describeDocument(asDocument(value)) : "?";
  const min = low?.type === BsonType.object ? key.valuesOfBound(asDocument(low)) : undefined;
  const max = high?.type === BsonType.object ? key.valuesOfBound(asDocument(high)) : undefined;
  if (bounds.length !== 2 || !min || !max) {
    throw usageError(
      `shard key bounds [${text(low)},${text(high)}) are not valid for shard key pattern ${key.text}`,
    );
  }
  const index = chunks.find(sortableKey(min));
  const end =
    index + 1 < chunks.size ? chunks.beginOf(index + 1) : sortableKey(key.valuesOfBound(key.maximum)!);
  if (chunks.beginOf(index) !== sortableKey(min) || end !== sortableKey(max)) {
    throw usageError(`no chunk found with the shard key bounds [${text(low)},${text(high)})`);
  }
  return chunks.chunk(index);
}

/** The error of a command that needs a shard which is not there. */
export function checkShard(context: RouterContext, shard: string): void {
  if (!context.shards.has(shard)) {
    throw new CommandError(ErrorCode.ShardNotFound, `Could not find shard ${shard}`);
  }
}
