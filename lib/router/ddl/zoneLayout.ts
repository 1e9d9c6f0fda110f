/**
 * The first chunks of an empty collection that has zone ranges already: pure policy (facts-mongos.md §1.3, §1.4).
 *
 *     ranges           [MinKey … EU … ) → "EU"        [ … US … ) → "US"
 *     chunks   hole │ a range, on a shard of EU │ hole │ a range, on a shard of US │ hole
 *
 * Each range becomes one chunk on a shard of its zone, each hole one on any shard; both go round robin. With
 * `presplitHashedZones` a range is cut into equal pieces of hash space, one or more for every shard of its zone:
 *
 *     key {country: 1, device: "hashed"}   range {country: "DE", device: MinKey} … {country: "FR", …} of 2 shards
 *     chunks  {DE, MinKey} ─── {DE, 0} ─── {FR, …}
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, compareDocuments, describeDocument, fields, int64, MIN_KEY } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ChunkStart } from "../catalog/chunkMap.js";
import type { ZoneRange } from "../catalog/entries.js";
import { hashedSplitPoints } from "../keys/initialChunks.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";

/**
 * Checks that a collection's zone ranges are ranges of its shard key to be.
 * @throws CommandError InvalidOptions (72); RangeOverlapConflict (178) for ranges that somebody wrote by hand
 */
export function checkZonesFit(zones: readonly ZoneRange[], key: ShardKeyPattern): void {
  let end = key.minimum;
  for (const zone of zones) {
    const range = `${describeDocument(zone.min)} -->> ${describeDocument(zone.max)}`;
    const min = fields(zone.min);
    const max = fields(zone.max);
    if (min.length !== max.length || min.some(([name], i) => max[i]![0] !== name)) {
      throw invalid(`the min and max of the existing zone ${range} have non-matching keys`);
    }
    if (min.length !== key.paths.length || key.paths.some((path, i) => min[i]![0] !== path)) {
      throw invalid(
        `the proposed shard key ${key.text} does not match with the shard key of the existing zone ${range}`,
      );
    }
    if (compareDocuments(zone.min, zone.max) >= 0 || compareDocuments(zone.min, end) < 0) {
      throw new CommandError(
        ErrorCode.RangeOverlapConflict,
        `the existing zone ${range} is empty or overlaps with the one before`,
      );
    }
    end = zone.max;
    if (!key.isHashed || [min, max].every((bound) => isHash(bound[key.hashedField]![1]))) continue;
    throw invalid(
      `cannot do hash sharding with the proposed key ${key.text} because there exists a zone ${range} ` +
        "whose boundaries are not of type NumberLong, MinKey or MaxKey",
    );
  }
}

function isHash({ type }: RawValue): boolean {
  return type === BsonType.int64 || type === BsonType.minKey || type === BsonType.maxKey;
}

/**
 * Checks that `presplitHashedZones` can be done.
 * @param empty whether the collection holds no document
 * @throws CommandError Location31387, 31412, 31388 … 31391
 */
export function checkPresplit(zones: readonly ZoneRange[], key: ShardKeyPattern, empty: boolean): void {
  if (!empty || zones.length === 0 || !key.isHashed) {
    throw new CommandError(
      31387,
      "'presplitHashedZones' is only supported when the collection is empty, zones are set up and shard key pattern has a hashed field",
    );
  }
  if (key.hashedField > 0) {
    for (const zone of zones) checkPresplitRange(zone, key);
    return;
  }
  const [only] = zones;
  const whole =
    zones.length === 1 &&
    compareDocuments(only!.min, key.minimum) === 0 &&
    compareDocuments(only!.max, key.maximum) === 0;
  if (whole) return;
  throw new CommandError(
    31412,
    "For hashed prefix shard keys, 'presplitHashedZones' is only supported when there is a single zone defined which covers entire shard key range",
  );
}

function checkPresplitRange({ min, max, zone }: ZoneRange, key: ShardKeyPattern): void {
  const refuse = (code: number, why: string): CommandError =>
    new CommandError(
      code,
      `One or more zones are not defined in a manner that supports hashed pre-splitting. ${why}, for zone ${zone}`,
    );
  const low = fields(min).map(([, value]) => value);
  const prefix = low.slice(0, key.hashedField);
  if (prefix.some(({ type }) => type === BsonType.minKey || type === BsonType.maxKey)) {
    throw refuse(
      31388,
      "Cannot have MinKey or MaxKey in the lower bound for fields preceding the hashed field but found one",
    );
  }
  const high = fields(max).map(([, value]) => value);
  if (
    compareDocuments(
      key.boundOf(padded(prefix, low)),
      key.boundOf(padded(high.slice(0, key.hashedField), low)),
    ) === 0
  ) {
    throw refuse(
      31390,
      "The value preceding hashed field of the upper bound should be greater than that of lower bound",
    );
  }
  if (low[key.hashedField]!.type !== BsonType.minKey) {
    throw refuse(31389, "The hashed field value for lower bound must be MinKey");
  }
  if (low.slice(key.hashedField).some(({ type }) => type !== BsonType.minKey)) {
    throw refuse(31391, "The fields after the hashed field must have MinKey value");
  }
}

/** Values of a whole bound that begin with a prefix. */
function padded(prefix: readonly RawValue[], whole: readonly RawValue[]): RawValue[] {
  return whole.map((_, i) => prefix[i] ?? MIN_KEY);
}

/** Where the chunks of a collection with zone ranges go. */
export interface ZonePlacement {
  /** Shards for holes, in the order of their turns. */
  readonly shards: readonly string[];
  /** Ids of a zone's shards, ascending; empty for a zone without any. */
  readonly shardsOf: (zone: string) => readonly string[];
  /** Pieces that each shard of a zone gets of a range; 1 unless the range is presplit. */
  readonly piecesPerShard: number;
  readonly presplit: boolean;
}

/**
 * The chunks.
 * @param zones ascending, not overlapping, bounds complete
 * @throws CommandError CannotCreateChunkDistribution (405) for a zone without a shard
 */
export function zoneChunks(
  zones: readonly ZoneRange[],
  key: ShardKeyPattern,
  { shards, shardsOf, piecesPerShard, presplit }: ZonePlacement,
): ChunkStart[] {
  const starts: ChunkStart[] = [];
  const turns = new Map<string, number>();
  let holes = 0;
  let end = key.minimum;
  for (const { min, max, zone } of zones) {
    const owners = shardsOf(zone);
    if (owners.length === 0) throw noShards();
    if (compareDocuments(min, end) > 0) starts.push({ min: end, shard: shards[holes++ % shards.length]! });
    if (presplit) {
      for (const piece of pieces(min, key, owners.length * piecesPerShard)) {
        starts.push({ min: piece.min, shard: owners[Math.floor(piece.index / piecesPerShard)]! });
      }
    } else {
      const turn = turns.get(zone) ?? 0;
      turns.set(zone, turn + 1);
      starts.push({ min, shard: owners[turn % owners.length]! });
    }
    end = max;
  }
  if (compareDocuments(end, key.maximum) < 0)
    starts.push({ min: end, shard: shards[holes % shards.length]! });
  return starts;
}

/** A range cut into equal pieces of hash space: the first begins where the range does. */
function pieces(min: Uint8Array, key: ShardKeyPattern, count: number): { min: Uint8Array; index: number }[] {
  const low = fields(min).map(([, value]) => value);
  const cuts = hashedSplitPoints(count).map((point) =>
    key.boundOf(
      low.map((value, i) => (i < key.hashedField ? value : i === key.hashedField ? int64(point) : MIN_KEY)),
    ),
  );
  return [min, ...cuts].map((bound, index) => ({ min: bound, index }));
}

function noShards(): CommandError {
  return new CommandError(
    ErrorCode.CannotCreateChunkDistribution,
    "The initial split policy is not able to find a chunk distribution that satisfies the given set of zones with the current shards",
  );
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidOptions, message);
}
