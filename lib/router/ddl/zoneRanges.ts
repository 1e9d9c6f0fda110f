/**
 * What a zone range must be: pure policy (facts-mongos.md §10).
 *
 *     key {country: 1, memberId: 1}      {country: "DE"} … {country: "DF"}
 *       → {country: "DE", memberId: MinKey} … {country: "DF", memberId: MinKey}
 *
 * Bounds may be a prefix of the key: both get MinKey for the rest, because the upper one is exclusive.
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, compareDocuments, describeDocument, fields, MIN_KEY } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ZoneRange } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";

type Range = Omit<ZoneRange, "zone">;

/** @throws CommandError ShardNotFound (70) */
export function checkZoneShard({ shards }: RouterContext, shard: string): void {
  if (!shards.has(shard)) throw new CommandError(ErrorCode.ShardNotFound, `shard ${shard} does not exist`);
}

/** A zone is there as long as a shard is in it. @throws CommandError ZoneNotFound (177) */
export function checkZoneExists({ shards }: RouterContext, zone: string): void {
  if (shards.all.some(({ zones }) => zones.includes(zone))) return;
  throw new CommandError(ErrorCode.ZoneNotFound, `zone ${zone} does not exist`);
}

/** @throws CommandError FailedToParse (9), ShardKeyNotFound (61) */
export function checkRange({ min, max }: Range): void {
  const low = fields(min);
  const high = fields(max);
  if (low.length !== high.length || low.some(([name], i) => high[i]![0] !== name)) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      `min: ${describeDocument(min)} and max: ${describeDocument(max)} don't have matching keys`,
    );
  }
  if (low.length === 0 || compareDocuments(min, max) >= 0) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `min: ${describeDocument(min)} should be less than max: ${describeDocument(max)}`,
    );
  }
}

/**
 * The range with whole bounds.
 * @param key of a sharded collection; without one the range is taken as it is
 * @throws CommandError ShardKeyNotFound (61) for bounds that are no prefix of the key, InvalidOptions (72) for what is no
 * hash in a hashed field
 */
export function fullRange({ min, max }: Range, key: ShardKeyPattern | undefined): Range {
  if (!key) return { min: min.slice(), max: max.slice() };
  return { min: fullBound("min", min, key), max: fullBound("max", max, key) };
}

function fullBound(name: string, bound: Uint8Array, key: ShardKeyPattern): Uint8Array {
  const given = fields(bound);
  if (given.length > key.paths.length || given.some(([path], i) => path !== key.paths[i])) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      `${name}: ${describeDocument(bound)} is not a prefix of the shard key ${key.text}`,
    );
  }
  const values = given.map(([, value]) => value);
  const hash = key.isHashed ? values[key.hashedField] : undefined;
  if (hash && !isHash(hash)) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `the hashed field of ${name}: ${describeDocument(bound)} must be a NumberLong, MinKey or MaxKey`,
    );
  }
  return key.boundOf(key.paths.map((_, i) => values[i] ?? MIN_KEY));
}

function isHash({ type }: RawValue): boolean {
  return type === BsonType.int64 || type === BsonType.minKey || type === BsonType.maxKey;
}

/**
 * Whether the namespace has exactly this range in this zone already.
 * @throws CommandError RangeOverlapConflict (178) where it overlaps with another one
 */
export function isKnownRange(zones: readonly ZoneRange[], range: ZoneRange): boolean {
  for (const other of zones) {
    const apart = compareDocuments(range.max, other.min) <= 0 || compareDocuments(other.max, range.min) <= 0;
    if (apart) continue;
    const same =
      compareDocuments(range.min, other.min) === 0 &&
      compareDocuments(range.max, other.max) === 0 &&
      range.zone === other.zone;
    if (same) return true;
    throw new CommandError(
      ErrorCode.RangeOverlapConflict,
      `Zone range: ${describeZone(range)} is overlapping with existing: ${describeZone(other)}`,
    );
  }
  return false;
}

function describeZone({ min, max, zone }: ZoneRange): string {
  return `${describeDocument(min)} -->> ${describeDocument(max)}  on  ${zone}`;
}
