/** The arguments of reshardCollection and what is wrong with them by themselves: pure reading (facts-mongos.md §8.2). */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, elements, getField } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode } from "../../protocol/index.js";
import type { ZoneRange } from "../catalog/entries.js";
import { flag, missingField, optionalField, optionalNumber, wrongType } from "../context.js";
import { checkRange, fullRange } from "../ddl/zoneRanges.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Rules } from "../rules.js";
import type { Namespace } from "../support/arguments.js";
import { namespaceArgument } from "../support/arguments.js";

/** What a reshardCollection asks for. */
export interface ReshardOptions extends Namespace {
  readonly key: ShardKeyPattern;
  /** Chunks wanted. */
  readonly numInitialChunks: number;
  readonly numSamplesPerChunk: number;
  /** Absent when not given; bounds complete, ascending. */
  readonly zones: readonly ZoneRange[] | undefined;
  readonly forceRedistribution: boolean;
  /** Does not wait for the minimum duration. */
  readonly demoMode: boolean;
  /** An index for the new key is made where there is none. */
  readonly implicitlyCreateIndex: boolean;
}

export const RESHARD_FIELDS = [
  "key",
  "unique",
  "numInitialChunks",
  "numSamplesPerChunk",
  "collation",
  "zones",
  "forceRedistribution",
  "reshardingUUID",
  "collectionUUID",
  "implicitlyCreateIndex",
  "relaxed",
  "performVerification",
  "demoMode",
];

const DEFAULT_CHUNKS = 90;
const DEFAULT_SAMPLES = 10;
const MAX_CHUNKS = 1_000_000;
const MAX_CHUNKS_PER_SHARD = 8192;
/** Samples that are read at most. */
const MAX_SAMPLES = 1_000_000;

/**
 * Reads and checks the arguments.
 * @param shards number of shards
 * @throws CommandError with the codes of §8.2
 */
export function readReshardCollection(request: Request, rules: Rules, shards: number): ReshardOptions {
  const namespace = namespaceArgument(request);
  const pattern = bodyField(request, "key");
  if (!pattern) throw missingField(request, "key");
  if (pattern.type !== BsonType.object) throw wrongType(request, "key", "object");
  const key = ShardKeyPattern.parse(asDocument(pattern), rules);
  if (flag(request, "unique")) throw new CommandError(ErrorCode.BadValue, "The unique field must be false");
  checkCollation(request);
  if (flag(request, "relaxed")) {
    throw new CommandError(ErrorCode.InvalidOptions, "Relaxed mode is not enabled, reject relaxed parameter");
  }
  flag(request, "performVerification");
  checkUuid(request);
  const numInitialChunks = numberBetween(request, "numInitialChunks", MAX_CHUNKS) ?? DEFAULT_CHUNKS;
  if (numInitialChunks > shards * MAX_CHUNKS_PER_SHARD) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `numInitialChunks cannot be more than ${shards * MAX_CHUNKS_PER_SHARD}, ${MAX_CHUNKS_PER_SHARD} * number of shards`,
    );
  }
  const numSamplesPerChunk = numberBetween(request, "numSamplesPerChunk", MAX_CHUNKS) ?? DEFAULT_SAMPLES;
  if (numInitialChunks * numSamplesPerChunk > MAX_SAMPLES) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `numInitialChunks * numSamplesPerChunk cannot be more than ${MAX_SAMPLES}`,
    );
  }
  return {
    ...namespace,
    key,
    numInitialChunks,
    numSamplesPerChunk,
    zones: zonesArgument(request, key),
    forceRedistribution: flag(request, "forceRedistribution"),
    demoMode: flag(request, "demoMode"),
    implicitlyCreateIndex: flag(request, "implicitlyCreateIndex", true),
  };
}

/** @throws CommandError BadValue (2) */
function checkCollation(request: Request): void {
  const collation = optionalField(request, "collation");
  if (!collation) return;
  if (collation.type !== BsonType.object) throw wrongType(request, "collation", "object");
  const locale = getField(asDocument(collation), "locale");
  if (locale?.type === BsonType.string && asString(locale) === "simple") return;
  throw new CommandError(
    ErrorCode.BadValue,
    "The collation for reshardCollection must be {locale: 'simple'}",
  );
}

/** @throws CommandError 51024 for a number out of range */
function numberBetween(request: Request, name: string, most: number): number | undefined {
  const number = optionalNumber(request, name);
  if (number === undefined || (number >= 1 && number <= most)) return number;
  const limit = number < 1 ? ">= 1" : `<= ${most}`;
  throw new CommandError(51024, `BSON field '${name}' value must be ${limit}, actual value '${number}'`);
}

/** By `reshardingUUID` a client that lost its connection finds its operation again; here it is only checked. */
function checkUuid(request: Request): void {
  const value = optionalField(request, "reshardingUUID");
  if (!value) return;
  // A UUID: 16 bytes of subtype 4.
  const { bytes, start, end, type } = value;
  if (type === BsonType.binary && bytes[start + 4] === 4 && end - start === 21) return;
  throw wrongType(request, "reshardingUUID", "binData");
}

/**
 * `zones: [{min, max, zone}]`
 * @throws CommandError TypeMismatch (14), Location40414, ShardKeyNotFound (61), FailedToParse (9), InvalidOptions (72)
 */
function zonesArgument(request: Request, key: ShardKeyPattern): ZoneRange[] | undefined {
  const value = optionalField(request, "zones");
  if (!value) return undefined;
  if (value.type !== BsonType.array) throw wrongType(request, "zones", "array");
  return elements(asDocument(value)).map((element, i): ZoneRange => {
    const path = `zones.${i}`;
    if (element.type !== BsonType.object) throw wrongType(request, path, "object");
    const zone = asDocument(element);
    const field = (name: string): RawValue => {
      const found = getField(zone, name);
      if (found) return found;
      throw new CommandError(
        ErrorCode.IDLFailedToParse,
        `BSON field '${request.command}.zones.${name}' is missing but a required field`,
      );
    };
    const bound = (name: string): Uint8Array => {
      const found = field(name);
      if (found.type !== BsonType.object) throw wrongType(request, `${path}.${name}`, "object");
      return asDocument(found);
    };
    const name = field("zone");
    if (name.type !== BsonType.string) throw wrongType(request, `${path}.zone`, "string");
    const range = { min: bound("min"), max: bound("max") };
    checkRange(range);
    return { ...fullRange(range, key), zone: asString(name) };
  });
}
