/**
 * Every row of facts-mongos.md that differs by release, with the value expected
 * under each: the table that the tests of this folder try.
 *
 * `rule` names the entry of rules.ts that makes the difference. `rules.test.ts`
 * checks that every such rule has a row whose values change exactly where the
 * rule does, and that every row here is tried.
 *
 * What the facts tell of releases and these rules leave as it is today under
 * all of them: the shapes of catalog documents (`partitioned`, chunks by `ns`,
 * the first `config.version`; §3.4), of replies (`collectionUUID` of
 * shardCollection, §1.2) and of explain (planner versions, skip and limit in its
 * totals; §5.1), error texts, a moveRange over several chunks (8.3, §3.2), and
 * the query language.
 */
import type { Rules } from "shardlab/router";
import type { ByRelease } from "./releases.js";

/** One row of the facts. */
export interface Row {
  /** Of facts-mongos.md. */
  readonly section: string;
  readonly text: string;
  readonly rule: keyof Rules;
  readonly values: ByRelease;
}

/** Tells the names apart and keeps them, for `RowName`. */
const table = <Names extends string>(rows: Record<Names, Row>): Readonly<Record<Names, Row>> => rows;

export const ROWS = table({
  "enableSharding first": {
    section: "1.1",
    text: "shardCollection on a database that nobody enabled fails (20) before 6.0",
    rule: "enableShardingNeeded",
    values: { "2.4": 20, "6.0": "ok" },
  },
  "numInitialChunks of a ranged key": {
    section: "1.3",
    text: "72 up to 7.1; parsed and ignored since",
    rule: "numInitialChunks",
    values: { "2.4": 72, "8.0": "ok" },
  },
  "numInitialChunks of a hashed key": {
    section: "2.4",
    text: "six chunks over two shards, three neighbours each; ignored since 7.2: one a shard",
    rule: "numInitialChunks",
    values: { "2.4": [6, 3, 3], "8.0": [2, 1, 1] },
  },
  "sharding a collection with data": {
    section: "1.4",
    text: "cut at chunk size before 6.0.3; one chunk since",
    rule: "splitsExistingData",
    values: { "2.4": "several chunks", "6.0": "one chunk" },
  },
  "initial hashed chunks": {
    section: "1.4, 2.4",
    text: "two a shard up to 7.1, one since 7.2: the split points of three shards",
    rule: "initialChunksPerShard",
    values: {
      "2.4": [-6148914691236517204n, -3074457345618258602n, 0n, 3074457345618258602n, 6148914691236517204n],
      "8.0": [-3074457345618258602n, 3074457345618258602n],
    },
  },
  "order of the initial shards": {
    section: "2.4",
    text: "ascending ids, neighbours together; shuffled since 7.2",
    rule: "initialShardsShuffled",
    values: { "2.4": "ascending", "8.0": "differs from collection to collection" },
  },
  "default chunk size": {
    section: "3.1",
    text: "64 MB, from 6.0 128 MB",
    rule: "chunkSizeMB",
    values: { "2.4": 64, "6.0": 128 },
  },
  "dropping the last key index": {
    section: "1.5",
    text: "370 since 6.0 for a ranged key; before, dropped",
    rule: "lastKeyIndexProtected",
    values: { "2.4": "ok", "6.0": 370 },
  },
  "dropping the last hashed key index": {
    section: "1.5, 12.13",
    text: "370 in 6.0 alone: since 7.0.3 a hashed one may go",
    rule: "lastHashedKeyIndexProtected",
    values: { "2.4": "ok", "6.0": 370, "7.0": "ok" },
  },
  "renaming a sharded collection": {
    section: "D:renameCollection",
    text: "20 before 5.0; since then within its database",
    rule: "shardedRename",
    values: { "2.4": 20, "5.0": "ok" },
  },
  "first answer of removeShard": {
    section: "8.4",
    text: "8.x lists unsharded collections to move beside the databases",
    rule: "removeShardListsCollections",
    values: {
      "2.4": [["dbsToMove", ["test"]]],
      "8.0": [
        ["collectionsToMove", []],
        ["dbsToMove", ["test"]],
      ],
    },
  },
  "compound hashed key": {
    section: "2.3",
    text: "a hashed field may be one of several since 4.4; before, one field only (2)",
    rule: "compoundHashedKeys",
    values: { "2.4": 2, "4.4": "ok" },
  },
  "insert without the key": {
    section: "4.2",
    text: "missing key fields are refused (61) before 4.4 and count as null since",
    rule: "missingKeyFieldsAllowed",
    values: { "2.4": 61, "4.4": "ok" },
  },
  "insert with half a compound key": {
    section: "4.2",
    text: "every field of the key has to be there before 4.4",
    rule: "missingKeyFieldsAllowed",
    values: { "2.4": 61, "4.4": "ok" },
  },
  "updateOne without key and _id": {
    section: "4.3",
    text: "72 up to 7.0; two phases since 7.1: exactly one document changes",
    rule: "twoPhaseWrites",
    values: { "2.4": [72, 0], "8.0": ["ok", 1] },
  },
  "deleteOne without key and _id": {
    section: "4.3",
    text: "61 up to 7.0; two phases since 7.1: exactly one document goes",
    rule: "twoPhaseWrites",
    values: { "2.4": [61, 5], "8.0": ["ok", 4] },
  },
  "findAndModify without key and _id": {
    section: "4.3",
    text: "61 up to 7.0; two phases since 7.1, the first by the sort over all shards",
    rule: "twoPhaseWrites",
    values: { "2.4": 61, "8.0": { _id: 4, x: 2, g: 1 } },
  },
  "findAndModify by _id": {
    section: "4.3",
    text: "_id is not enough up to 7.0 (61); two phases since",
    rule: "twoPhaseWrites",
    values: { "2.4": 61, "8.0": { _id: 3, x: 1, g: 1 } },
  },
  "deleteOne by a range on one shard": {
    section: "4.3",
    text: "a filter that targets one shard is enough since late 5.0",
    rule: "oneShardSuffices",
    values: { "2.4": 61, "5.0": "ok" },
  },
  "findAndModify by a range on one shard": {
    section: "4.3",
    text: "a filter that targets one shard is enough since late 5.0",
    rule: "oneShardSuffices",
    values: { "2.4": 61, "5.0": "ok" },
  },
  "upsert without the whole key": {
    section: "4.4",
    text: "61 up to 7.0; since 7.1 the new document's key decides its shard",
    rule: "twoPhaseWrites",
    values: { "2.4": [61, undefined], "8.0": ["ok", "shardB"] },
  },
  "findAndModify upsert without the whole key": {
    section: "4.4",
    text: "61 up to 7.0; since 7.1 the new document's key decides its shard",
    rule: "twoPhaseWrites",
    values: { "2.4": [61, undefined], "8.0": ["ok", "shardB"] },
  },
  "changing a key value": {
    section: "4.5",
    text: "66 up to 4.0; a retryable update moves the document since 4.2",
    rule: "keyValuesChangeable",
    values: { "2.4": [66, "shardA"], "4.2": ["ok", "shardB"] },
  },
  "changing a key value, not retryable": {
    section: "4.5",
    text: "66 up to 4.0, 20 since 4.2",
    rule: "keyValuesChangeable",
    values: { "2.4": [66, "shardA"], "4.2": [20, "shardA"] },
  },
  "changing a key value within its shard": {
    section: "4.5",
    text: "66 up to 4.0, a plain update since 4.2",
    rule: "keyValuesChangeable",
    values: { "2.4": [66, "shardA"], "4.2": ["ok", "shardA"] },
  },
  "changing a key value by _id": {
    section: "4.5",
    text: "without the whole key in the filter: 66 up to 4.0, 31025 from 4.2 to 7.0, allowed since 7.1",
    rule: "keyChangeNeedsFullKey",
    values: { "2.4": [66, "shardA"], "4.2": [31025, "shardA"], "8.0": ["ok", "shardB"] },
  },
  "$lookup in a sharded collection": {
    section: "6",
    text: "28769 before 5.1",
    rule: "shardedLookup",
    values: { "2.4": 28769, "6.0": [1, 1, 1, 1, 1] },
  },
  "$graphLookup in a sharded collection": {
    section: "6",
    text: "28769 before 5.1",
    rule: "shardedLookup",
    values: { "2.4": 28769, "6.0": [1, 1, 1, 1, 1] },
  },
  $shardedDataDistribution: {
    section: "6",
    text: "since 6.0.3; before, an unknown stage (40324)",
    rule: "shardedDataDistribution",
    values: { "2.4": 40324, "6.0": { shardA: 2n, shardB: 3n } },
  },
  $listClusterCatalog: {
    section: "6",
    text: "since 8.0.10; before, an unknown stage (40324)",
    rule: "listClusterCatalog",
    values: { "2.4": 40324, "8.0": [["test.c", true]] },
  },
  "$group by the shard key": {
    section: "6",
    text: "in halves on shards and router; since 8.0 whole on the shards",
    rule: "fullGroupPushdown",
    values: { "2.4": "merged again", "8.0": "whole on the shards" },
  },
  "merge on the shard of a joined collection": {
    section: "5.2",
    text: "primaryShard up to 5.x; then specificShard with mergeShardId, in today's manual mergeShard",
    rule: "mergeShardField",
    values: {
      "2.4": { mergeType: "primaryShard" },
      "6.0": { mergeType: "specificShard", mergeShardId: "shardA" },
      "8.0": { mergeType: "specificShard", mergeShard: "shardA" },
    },
  },
  "a round of the balancer": {
    section: "3.3",
    text: "4 + 4 + 0 + 0 empty chunks: one migration by the table of 2.4, two by each shard's share; none by size",
    rule: "balancesBy",
    values: { "2.4": 1, "4.2": 2, "6.0": 0 },
  },
  "chunks that grow": {
    section: "3.1",
    text: "a chunk of 20,000 bytes where 10,000 are the most is cut at every half by itself before 6.0.3",
    rule: "autoSplit",
    values: { "2.4": 4, "6.0": 1 },
  },
  "chunks after an hour": {
    section: "3.2",
    text: "three neighbours on one shard stay as they are; since 7.0 they are merged",
    rule: "autoMerger",
    values: { "2.4": 3, "7.0": 1 },
  },
  "name of a merge on the router": {
    section: "5.2",
    text: "mongos, in today's manual router",
    rule: "mergeTypeName",
    values: { "2.4": "mongos", "8.0": "router" },
  },
});

export type RowName = keyof typeof ROWS;

/**
 * Commands by the first release that has them (§3.2, §8.1–§8.3, §9, and "New in
 * version" of their pages): before it 59. They go through the same rule.
 */
export const COMMANDS_SINCE: Readonly<Record<string, string>> = {
  clearJumboFlag: "4.2",
  setAllowMigrations: "4.2",
  balancerCollectionStatus: "4.4",
  refineCollectionShardKey: "4.4",
  reshardCollection: "5.0",
  commitReshardCollection: "5.0",
  abortReshardCollection: "5.0",
  cleanupReshardCollection: "5.0",
  configureCollectionBalancing: "6.0",
  moveRange: "6.0",
  analyzeShardKey: "7.0",
  checkMetadataConsistency: "7.0",
  configureQueryAnalyzer: "7.0",
  mergeAllChunksOnShard: "7.0",
  bulkWrite: "8.0",
  commitShardRemoval: "8.0",
  shardDrainingStatus: "8.0",
  startShardDraining: "8.0",
  stopShardDraining: "8.0",
  moveCollection: "8.0",
  abortMoveCollection: "8.0",
  unshardCollection: "8.0",
  abortUnshardCollection: "8.0",
  transitionFromDedicatedConfigServer: "8.0",
  transitionToDedicatedConfigServer: "8.0",
};
