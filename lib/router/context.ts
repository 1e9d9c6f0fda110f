/**
 * What every command of the router works with: one object that holds the parts.
 */
import {
  asBoolean,
  asDocument,
  asNumber,
  BsonType,
  EMPTY_DOCUMENT,
  getField,
  isNumeric,
  topLevelNames,
} from "../bson/index.js";
import type { RawValue } from "../bson/index.js";
import type { Environment, LogicalClock, Reply, Request } from "../protocol/index.js";
import { bodyField, CommandError, ErrorCode, isGeneric, wrongFieldType } from "../protocol/index.js";
import type { Balancer } from "./balancer/balancer.js";
import type { QuerySampler } from "./analyze/sampler.js";
import type { ChunkGrowth } from "./autoSplit/growth.js";
import type { Catalog } from "./catalog/catalog.js";
import type { ShardRegistry } from "./catalog/shards.js";
import { CONFIG_SHARD } from "./catalog/shards.js";
import type { ExpressionOptions } from "../query/index.js";
import type { CursorStore } from "./merging/cursorStore.js";
import type { RunningReshardings } from "./resharding/running.js";
import type { Rules } from "./rules.js";
import type { IdSource } from "./support/ids.js";
import type { NamespaceLocks } from "./support/locks.js";
import type { ServerState } from "./server/state.js";
import type { RetryableWrites } from "./support/retryableWrites.js";
import type { UnfinishedWork } from "./support/unfinished.js";
import type { Waiting } from "./support/waiting.js";
import type { TraceLog } from "./trace.js";
import type { ViewCatalog } from "./views/viewCatalog.js";

/** The router's parts, as commands see them. */
export interface RouterContext {
  readonly environment: Environment;
  readonly rules: Rules;
  readonly catalog: Catalog;
  /** Which unsharded names are views. */
  readonly views: ViewCatalog;
  readonly shards: ShardRegistry;
  readonly locks: NamespaceLocks;
  readonly trace: TraceLog;
  readonly cursors: CursorStore;
  readonly clock: LogicalClock;
  readonly ids: IdSource;
  readonly retryable: RetryableWrites;
  /** Operations that have to be brought to their end before their namespaces are used. */
  readonly unfinished: UnfinishedWork;
  /** Which queries are sampled. */
  readonly sampler: QuerySampler;
  /** Reshardings that are going on. */
  readonly resharding: RunningReshardings;
  /** `host:port` of this router. */
  readonly host: string;
  /** What commands about the server itself read. */
  readonly server: ServerState;
  /** What was written into each chunk, where chunks split by themselves. */
  readonly growth: ChunkGrowth;
  /** Time that has to pass: skipped on a virtual clock. */
  readonly waiting: Waiting;
  /** What moves chunks by itself. */
  readonly balancer: Balancer;
  /** When the router started, milliseconds. */
  readonly startedAt: number;
}

/** A command of the router: one file in `commands/` each. */
export interface Command {
  /** MongoDB's name, e.g. `shardCollection`. */
  readonly name: string;
  /** Other spellings that clients send. */
  readonly aliases?: readonly string[];
  /** Runs against the admin database only; elsewhere Unauthorized (13). */
  readonly adminOnly?: boolean;
  /**
   * The fields the command knows, where this router answers it, or may carry it
   * out itself (careful writes). A field that is not among them is refused
   * (40415): ignoring a misspelt option would change the answer. Commands that
   * only shards answer leave the check to them.
   */
  readonly fields?: readonly string[];
  /** A sentence for `listCommands`. */
  readonly help?: string;
  /** Answers a retried `txnNumber` with the first reply. */
  readonly retryable?: boolean;
  run(context: RouterContext, request: Request): Promise<Reply> | Reply;
}

/** Databases that live on the config server and are never sharded by users. */
export function isConfigDatabase(db: string): boolean {
  return db === "config" || db === "admin" || db === "local";
}

/**
 * Where an unsharded collection lives: on its database's primary shard, unless it was moved away.
 * A database that does not exist lives nowhere: the config server answers for
 * it, which has no such database either, so reads find nothing.
 * @param ns the collection; absent: what has no place of its own, views and the database itself
 */
export function homeOf(context: RouterContext, db: string, ns?: string): { shard: string; exists: boolean } {
  if (isConfigDatabase(db)) return { shard: CONFIG_SHARD, exists: true };
  const tracked = ns === undefined ? undefined : context.catalog.tracked(ns);
  if (tracked) return { shard: tracked.shard, exists: true };
  const database = context.catalog.database(db);
  return database ? { shard: database.primary, exists: true } : { shard: CONFIG_SHARD, exists: false };
}

/** A top-level document of the command, e.g. `filter`; empty when absent or null. */
export function documentField(request: Request, name: string): Uint8Array {
  return optionalDocument(request, name) ?? EMPTY_DOCUMENT;
}

/**
 * A top-level document of the command, or undefined.
 * @throws CommandError TypeMismatch (14) for a value of another type
 */
export function optionalDocument(request: Request, name: string): Uint8Array | undefined {
  const value = optionalField(request, name);
  if (!value) return undefined;
  if (value.type !== BsonType.object) throw wrongType(request, name, "object");
  return asDocument(value);
}

/**
 * A top-level number of the command without its fraction, or undefined.
 * @throws CommandError TypeMismatch (14)
 */
export function optionalNumber(request: Request, name: string): number | undefined {
  const value = optionalField(request, name);
  if (!value) return undefined;
  if (!isNumeric(value)) throw wrongType(request, name, "long");
  return toInt64(asNumber(value));
}

/** The 64-bit integer that a command takes a number for: NaN is 0, what is out of range the nearest there is. */
export function toInt64(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(Math.trunc(value), -(2 ** 63)), 2 ** 63);
}

/**
 * A top-level whole number of the command that may not be negative, or undefined.
 * @throws CommandError TypeMismatch (14); 51024 for a negative one
 */
export function optionalCount(request: Request, name: string): number | undefined {
  const count = optionalNumber(request, name);
  if (count !== undefined && !(count >= 0)) {
    throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${count}'`);
  }
  return count;
}

/** A top-level flag of the command; numbers count by being zero or not. */
export function flag(request: Request, name: string, absent = false): boolean {
  const value = optionalField(request, name);
  if (!value) return absent;
  if (value.type === BsonType.bool) return asBoolean(value);
  if (isNumeric(value)) return asNumber(value) !== 0;
  throw wrongType(request, name, "bool");
}

/** What expressions see of the command: its `let`, the clock and the random source. */
export function expressionOptions(context: RouterContext, request: Request): ExpressionOptions {
  const variables = optionalDocument(request, "let");
  const { now, random } = context.environment;
  // $$NOW is one moment for the whole command.
  let started: number | undefined;
  const allowDiskUse = flag(request, "allowDiskUse", true);
  return { now: () => (started ??= now()), random, allowDiskUse, ...(variables && { let: variables }) };
}

/** A top-level field of the command; null and the deprecated undefined count as not there. */
export function optionalField(request: Request, name: string): RawValue | undefined {
  const value = bodyField(request, name);
  return value?.type === BsonType.null || value?.type === BsonType.undefined ? undefined : value;
}

/**
 * The error of a field with the wrong type; names the type that was found.
 * @param name the field, or a path into it: `cursor.batchSize`, `cursors.0`
 */
export function wrongType(request: Request, name: string, expected: string): CommandError {
  let found: RawValue | undefined;
  let inside: Uint8Array | undefined = request.body;
  for (const part of name.split(".")) {
    found = inside && getField(inside, part);
    inside =
      found && (found.type === BsonType.object || found.type === BsonType.array)
        ? asDocument(found)
        : undefined;
  }
  return wrongFieldType(`${request.command}.${name}`, expected, found);
}

/** The error of a required field that is not there. */
export function missingField(request: Request, name: string): CommandError {
  return new CommandError(
    ErrorCode.IDLFailedToParse,
    `BSON field '${request.command}.${name}' is missing but a required field`,
  );
}

/** A value of the command that must be there. */
export function requiredField(request: Request, name: string): RawValue {
  const value = bodyField(request, name);
  if (!value) throw missingField(request, name);
  return value;
}

/**
 * Refuses fields of a command that nobody knows.
 * @param known beside the generic ones and those that begin with `$`
 * @throws CommandError IDLUnknownField (40415)
 */
export function checkFields(request: Request, known: readonly string[]): void {
  const unknown = topLevelNames(request.body)
    .slice(1)
    .find((name) => !name.startsWith("$") && !isGeneric(name) && !known.includes(name));
  if (unknown === undefined) return;
  throw unknownField(`${request.command}.${unknown}`);
}

/** The error of a field that nobody knows, e.g. `find.foo`. */
export function unknownField(path: string): CommandError {
  return new CommandError(ErrorCode.IDLUnknownField, `BSON field '${path}' is an unknown field.`);
}
