/**
 * `readDistribution` and `writeDistribution`: how the sampled queries would be routed if the candidate were the shard key
 * (facts-mongos.md §9.4).
 *
 *     the candidate's values, cut into 100 ranges      ├──┼──┼──┼ … ┼──┤
 *     {customerId: 7}                                   ▇                  single shard
 *     {customerId: {$gt: 7}}                            ▇▇▇▇▇▇▇▇▇▇▇▇▇▇    multi shard
 *     {status: "new"}                                  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇    scatter-gather
 *
 * The ranges stand for the chunks that there would be. Only a whole key counts as single shard: a range may lie in one
 * chunk today and in two tomorrow.
 */
import {
  asDocument,
  asString,
  BsonType,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  firstField,
  getField,
  int64,
  isTruthy,
  toDocument,
} from "../../bson/index.js";
import { compileFilter, parseCollation } from "../../query/index.js";
import { ChunkMap } from "../catalog/chunkMap.js";
import type { RouterContext } from "../context.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { splitBySamples } from "../resharding/splitPolicy.js";
import type { RoutingTable } from "../targeting/target.js";
import { pinnedKey, targetFilter } from "../targeting/target.js";
import { projectionOf } from "./characteristics.js";
import { changesPath } from "./diff.js";
import { rounded } from "./monotonicity.js";
import { DIFFS, SAMPLED } from "./observe.js";
import type { Analyzed, Part } from "./parts.js";
import { pipelineOn, rowsOn, shares } from "./parts.js";

const ID_KEY = ShardKeyPattern.parse(toDocument({ _id: 1 }));

/** Documents that are looked at for each range. */
const SAMPLES_PER_RANGE = 10;

/**
 * The ranges: the candidate's values in so many parts with about as many documents each.
 * @throws CommandError Location4952606 for too few different values
 */
export async function rangesOf(
  context: RouterContext,
  collection: Analyzed,
  key: ShardKeyPattern,
  parts: readonly Part[],
  ranges: number,
): Promise<ChunkMap> {
  const given = shares(parts, ranges * SAMPLES_PER_RANGE);
  const samples: ReturnType<ShardKeyPattern["extract"]>[] = [];
  for (const [i, { shard, documents }] of parts.entries()) {
    if (given[i] === 0) continue;
    const project = new DocumentWriter().document("$project", projectionOf(key)).finish();
    const size = new DocumentWriter().field("size", int64(given[i]!)).finish();
    const sample = new DocumentWriter().document("$sample", size).finish();
    const stages = given[i]! < documents ? [sample, project] : [project];
    for await (const row of rowsOn(context, shard, collection, pipelineOn(collection, stages))) {
      samples.push(key.extract(row));
    }
  }
  samples.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const starts = splitBySamples(samples, {
    key,
    chunks: ranges,
    samplesPerChunk: SAMPLES_PER_RANGE,
    zones: [],
    shards: [collection.home],
    shardsOf: () => [],
  });
  return ChunkMap.build(starts, key.maximum);
}

/** How many queries go where, and how often each range is met. */
class Tally {
  total = 0;
  single = 0;
  multi = 0;
  scatter = 0;
  readonly byName = new Map<string, number>();
  readonly byRange: number[];

  constructor(ranges: number) {
    this.byRange = new Array<number>(ranges).fill(0);
  }

  /** @param runs the ranges that the query meets */
  count(
    name: string,
    where: "single" | "multi" | "scatter",
    runs: readonly (readonly [number, number])[],
  ): void {
    this.total += 1;
    this[where] += 1;
    this.byName.set(name, (this.byName.get(name) ?? 0) + 1);
    for (const [first, last] of runs) for (let i = first; i <= last; i++) this.byRange[i]! += 1;
  }

  sampleSize(names: readonly string[]): Uint8Array {
    const writer = new DocumentWriter().int64("total", BigInt(this.total));
    for (const name of names) writer.int64(name, BigInt(this.byName.get(name) ?? 0));
    return writer.finish();
  }

  percentage(count: number): number {
    return rounded((100 * count) / this.total);
  }
}

/** `readDistribution` and `writeDistribution`, in this order. */
export async function distributions(
  context: RouterContext,
  { uuid }: Analyzed,
  key: ShardKeyPattern,
  ranges: ChunkMap,
): Promise<[reads: Uint8Array, writes: Uint8Array]> {
  const table: RoutingTable = { key, chunks: ranges };
  const reads = new Tally(ranges.size);
  const writes = new Writes(ranges.size);
  const now = new DocumentWriter().date("$gt", context.waiting.now()).finish();
  const current = new DocumentWriter().field("collectionUuid", uuid).document("expireAt", now).finish();
  const { config } = context.catalog;
  for await (const sample of config.find(SAMPLED, current)) {
    const name = asString(getField(sample, "cmdName")!);
    const cmd = asDocument(getField(sample, "cmd")!);
    if (name === "update" || name === "delete") {
      for (const statement of statementsOf(cmd, `${name}s`)) countWrite(writes, table, name, statement);
    } else if (name === "findAndModify" || name === "findandmodify") {
      countWrite(writes, table, "findAndModify", asStatement(cmd));
    } else {
      const { where, runs } = placeOf(documentIn(cmd, "filter"), documentIn(cmd, "collation"), table);
      reads.count(name, where, runs);
    }
  }
  for await (const sample of config.find(DIFFS, current)) {
    const diff = documentIn(sample, "diff");
    if (key.paths.some((path) => changesPath(diff, path))) writes.keyUpdates += 1;
  }
  return [readDocument(reads), writes.document()];
}

class Writes extends Tally {
  keyUpdates = 0;
  singleWithoutKey = 0;
  multiWithoutKey = 0;

  document(): Uint8Array {
    const writer = new DocumentWriter().document(
      "sampleSize",
      this.sampleSize(["update", "delete", "findAndModify"]),
    );
    if (this.total === 0) return writer.finish();
    return writer
      .double("percentageOfSingleShardWrites", this.percentage(this.single))
      .double("percentageOfMultiShardWrites", this.percentage(this.multi))
      .double("percentageOfScatterGatherWrites", this.percentage(this.scatter))
      .values("numWritesByRange", this.byRange.map(int64))
      .double("percentageOfShardKeyUpdates", this.percentage(this.keyUpdates))
      .double("percentageOfSingleWritesWithoutShardKey", this.percentage(this.singleWithoutKey))
      .double("percentageOfMultiWritesWithoutShardKey", this.percentage(this.multiWithoutKey))
      .finish();
  }
}

function readDocument(reads: Tally): Uint8Array {
  const names = ["find", "aggregate", "count", "distinct"];
  const writer = new DocumentWriter().document("sampleSize", reads.sampleSize(names));
  if (reads.total === 0) return writer.finish();
  return writer
    .double("percentageOfSingleShardReads", reads.percentage(reads.single))
    .double("percentageOfMultiShardReads", reads.percentage(reads.multi))
    .double("percentageOfScatterGatherReads", reads.percentage(reads.scatter))
    .values("numReadsByRange", reads.byRange.map(int64))
    .finish();
}

interface Place {
  readonly where: "single" | "multi" | "scatter";
  readonly runs: readonly (readonly [number, number])[];
}

function placeOf(filter: Uint8Array, collation: Uint8Array, table: RoutingTable): Place {
  const own = collation.length > EMPTY_DOCUMENT.length ? parseCollation(collation) : undefined;
  const { node } = compileFilter(filter, own && { collation: own });
  const { kind, chunks } = targetFilter(node, table);
  if (kind === "shardKey") return { where: "single", runs: chunks };
  // What can match nothing is asked of one shard.
  if (kind === "none") return { where: "single", runs: [[0, 0]] };
  return { where: kind === "allShards" ? "scatter" : "multi", runs: chunks };
}

/** A statement of update or delete: `{q, u?, multi?, limit?, upsert?, collation?}`. */
function countWrite(writes: Writes, table: RoutingTable, name: string, statement: Uint8Array): void {
  const filter = documentIn(statement, "q");
  const place = byReplacement(statement, table) ?? placeOf(filter, documentIn(statement, "collation"), table);
  writes.count(name, place.where, place.runs);
  if (place.where === "single") return;
  const limit = getField(statement, "limit");
  const isMulti =
    name === "delete" ? limit !== undefined && !isTruthy(limit) : isTruthy(getField(statement, "multi"));
  if (isMulti) writes.multiWithoutKey += 1;
  else writes.singleWithoutKey += 1;
}

/** A replacement of the document with exactly this `_id` goes where its new key is (no upsert). */
function byReplacement(statement: Uint8Array, { key, chunks }: RoutingTable): Place | undefined {
  const u = getField(statement, "u");
  if (u?.type !== BsonType.object || isTruthy(getField(statement, "upsert"))) return undefined;
  const replacement = asDocument(u);
  if (firstField(replacement)?.[0].startsWith("$")) return undefined;
  const { node } = compileFilter(documentIn(statement, "q"));
  if (!pinnedKey(node, ID_KEY) || key.arrayPath(replacement) !== undefined) return undefined;
  const index = key.chunkOf(replacement, chunks);
  return { where: "single", runs: [[index, index]] };
}

/** findAndModify's fields under the names of a statement. */
function asStatement(cmd: Uint8Array): Uint8Array {
  const statement = new DocumentWriter().document("q", documentIn(cmd, "query"));
  for (const [from, to] of [
    ["update", "u"],
    ["upsert", "upsert"],
    ["collation", "collation"],
  ] as const) {
    const value = getField(cmd, from);
    if (value) statement.field(to, value);
  }
  return statement.finish();
}

function statementsOf(cmd: Uint8Array, name: string): Uint8Array[] {
  const statements = getField(cmd, name);
  return statements?.type === BsonType.array ? elements(asDocument(statements)).map(asDocument) : [];
}

function documentIn(document: Uint8Array, name: string): Uint8Array {
  const value = getField(document, name);
  return value?.type === BsonType.object ? asDocument(value) : EMPTY_DOCUMENT;
}
