/**
 * One router, several MongoDB versions.
 *
 * The documents a student reads about shard keys disagree because they describe
 * different releases: the 2.4 manual says that a hashed collection gets two
 * chunks a shard and that shard key values never change; the 8.0 manual says
 * one chunk and `updateOne`. Both are true under their own rules.
 *
 *     "2.4" ── "4.2" ── "4.4" ── "5.0" ── "6.0" ── "7.0" ── "8.0"
 *       │        │        │        │        │        │        └ one initial chunk, two-phase writes, moveCollection
 *       │        │        │        │        │        └ analyzeShardKey, mergeAllChunksOnShard
 *       │        │        │        │        └ no enableSharding, 128 MB, data-size balancing, no auto-split
 *       │        │        │        └ reshardCollection
 *       │        │        └ missing key fields, compound hashed keys, refineCollectionShardKey
 *       │        └ shard key values may change
 *       └ the first release with hashed keys
 *
 * This file is the only place that knows version numbers. Everything else asks
 * a named rule (`rules.twoPhaseWrites`), so that a reader meets the behaviour
 * and not the release history. Rules cover behaviour only: the handshake, the
 * wire version and the shape of catalog documents are always today's, because
 * today's drivers must connect under any rules.
 *
 * Each version below lists only what it changed; the table is the running sum.
 * Dates of change: facts-mongos.md, named at each field.
 */
import { CommandError, ErrorCode } from "../protocol/index.js";

/** The release whose sharding behaviour the router shows. `"8.0"` stands for the 8.0–8.3 line. */
export type RulesVersion = "2.4" | "4.2" | "4.4" | "5.0" | "6.0" | "7.0" | "8.0";

/** The behaviours that differ between releases. */
export interface Rules {
  readonly version: RulesVersion;

  /** shardCollection fails until enableSharding was run on the database (before 6.0; §1.1). */
  readonly enableShardingNeeded: boolean;

  /** Chunks that an empty hashed collection gets per shard: 2 up to 7.1, then 1 (§2.4). */
  readonly initialChunksPerShard: 1 | 2;
  /** Initial chunks go to the shards in shuffled order (7.2+); before, in ascending order of shard ids (§2.4). */
  readonly initialShardsShuffled: boolean;
  /** `numInitialChunks` of shardCollection is honoured (up to 7.1) or parsed and ignored (7.2+; §1.3). */
  readonly numInitialChunks: "honoured" | "ignored";
  /** shardCollection splits a collection that has data at chunk size (before 6.0.3); since then it leaves one chunk (§1.4). */
  readonly splitsExistingData: boolean;

  /** A hashed field may be one of several key fields (4.4+; §2.3). */
  readonly compoundHashedKeys: boolean;
  /** A document may lack key fields and counts as null there (4.4+); before, it is refused with 61 (§4.2). */
  readonly missingKeyFieldsAllowed: boolean;

  /** A document's shard key value can be changed at all (4.2+; §4.5). */
  readonly keyValuesChangeable: boolean;
  /** Changing a value needs the full old key in the filter (4.2–7.0), else 31025 (§4.5). */
  readonly keyChangeNeedsFullKey: boolean;
  /** A deleteOne or findAndModify whose filter targets one shard needs no more (late 5.0+); before, the key (§4.3). */
  readonly oneShardSuffices: boolean;
  /** Single writes without the key find their document first (7.1+); before, they are refused (§4.3). */
  readonly twoPhaseWrites: boolean;

  /** Default chunk (range) size in MB: 64, from 6.0 128 (§3.1). */
  readonly chunkSizeMB: 64 | 128;
  /** Chunks split by themselves as they grow (before 6.0.3; §3.1). */
  readonly autoSplit: boolean;
  /**
   * What the balancer evens out (§3.3): number of chunks, by a table of differences up to 2.4, then by each shard's
   * share; bytes since 6.0.3.
   */
  readonly balancesBy: "chunkDifference" | "chunks" | "dataSize";
  /** Chunks that belong together are merged by themselves (7.0+; §3.2). */
  readonly autoMerger: boolean;

  /** The last index that supports a ranged shard key can't be dropped (370, since 6.0; §1.5). */
  readonly lastKeyIndexProtected: boolean;
  /** The same of a hashed shard key: 6.0 alone, since 7.0.3 it may go (§1.5, §12.13). */
  readonly lastHashedKeyIndexProtected: boolean;
  /** renameCollection takes a sharded collection (5.0+). */
  readonly shardedRename: boolean;
  /** removeShard also lists unsharded collections that moveCollection has to take away (8.0+; §8.4). */
  readonly removeShardListsCollections: boolean;

  /** Commands, in all spellings, that came with a later release: not found (59) here (§3.2, §8, §9). */
  readonly absentCommands: ReadonlySet<string>;

  /** `$lookup` may join a sharded collection (5.1+; §6). */
  readonly shardedLookup: boolean;
  /** `$shardedDataDistribution` exists (6.0.3+; §6). */
  readonly shardedDataDistribution: boolean;
  /** `$listClusterCatalog` exists (8.0.10+). */
  readonly listClusterCatalog: boolean;
  /** How explain names a merge on the router: `mongos`, in today's manual `router` (§5.2). */
  readonly mergeTypeName: "mongos" | "router";
  /** The explain field with the shard that would merge; absent while that was always the primary (§5.2). */
  readonly mergeShardField: "mergeShardId" | "mergeShard" | undefined;
  /** A `$group` whose `_id` has the whole shard key runs whole on the shards (8.0+; §6). */
  readonly fullGroupPushdown: boolean;
}

type Behaviour = Omit<Rules, "version" | "absentCommands">;
type Change = Partial<Behaviour>;

const FIRST: Behaviour = {
  enableShardingNeeded: true,
  initialChunksPerShard: 2,
  initialShardsShuffled: false,
  numInitialChunks: "honoured",
  splitsExistingData: true,
  compoundHashedKeys: false,
  missingKeyFieldsAllowed: false,
  keyValuesChangeable: false,
  keyChangeNeedsFullKey: false,
  oneShardSuffices: false,
  twoPhaseWrites: false,
  chunkSizeMB: 64,
  autoSplit: true,
  balancesBy: "chunkDifference",
  autoMerger: false,
  lastKeyIndexProtected: false,
  lastHashedKeyIndexProtected: false,
  shardedRename: false,
  removeShardListsCollections: false,
  shardedLookup: false,
  shardedDataDistribution: false,
  listClusterCatalog: false,
  mergeTypeName: "mongos",
  mergeShardField: undefined,
  fullGroupPushdown: false,
};

const CHANGES: readonly (readonly [RulesVersion, Change])[] = [
  ["2.4", {}],
  ["4.2", { keyValuesChangeable: true, keyChangeNeedsFullKey: true, balancesBy: "chunks" }],
  ["4.4", { compoundHashedKeys: true, missingKeyFieldsAllowed: true }],
  ["5.0", { oneShardSuffices: true, shardedRename: true }],
  [
    "6.0",
    {
      enableShardingNeeded: false,
      splitsExistingData: false,
      chunkSizeMB: 128,
      autoSplit: false,
      balancesBy: "dataSize",
      lastKeyIndexProtected: true,
      lastHashedKeyIndexProtected: true,
      shardedLookup: true,
      mergeShardField: "mergeShardId",
      shardedDataDistribution: true,
    },
  ],
  ["7.0", { lastHashedKeyIndexProtected: false, autoMerger: true }],
  [
    "8.0",
    {
      initialChunksPerShard: 1,
      initialShardsShuffled: true,
      numInitialChunks: "ignored",
      keyChangeNeedsFullKey: false,
      twoPhaseWrites: true,
      removeShardListsCollections: true,
      mergeTypeName: "router",
      mergeShardField: "mergeShard",
      fullGroupPushdown: true,
      listClusterCatalog: true,
    },
  ],
];

/**
 * Commands about sharding, and `bulkWrite`, by the first rules that have them (§3.2, §8, §9; the releases are those
 * of the manual's "New in version"). Older commands, and those that drivers and shells send when they connect, are
 * there under all rules.
 */
const NEW_COMMANDS: readonly (readonly [RulesVersion, readonly string[]])[] = [
  ["4.2", ["clearJumboFlag", "setAllowMigrations"]],
  ["4.4", ["balancerCollectionStatus", "refineCollectionShardKey"]],
  [
    "5.0",
    ["abortReshardCollection", "cleanupReshardCollection", "commitReshardCollection", "reshardCollection"],
  ],
  ["6.0", ["configureCollectionBalancing", "moveRange"]],
  ["7.0", ["analyzeShardKey", "checkMetadataConsistency", "configureQueryAnalyzer", "mergeAllChunksOnShard"]],
  [
    "8.0",
    [
      "abortMoveCollection",
      "abortUnshardCollection",
      "bulkWrite",
      "commitShardRemoval",
      "moveCollection",
      "shardDrainingStatus",
      "startShardDraining",
      "stopShardDraining",
      "transitionFromDedicatedConfigServer",
      "transitionToDedicatedConfigServer",
      "unshardCollection",
    ],
  ],
];

const TABLE: ReadonlyMap<string, Rules> = (() => {
  const table = new Map<string, Rules>();
  let sum = FIRST;
  for (const [version, change] of CHANGES) {
    sum = { ...sum, ...change };
    table.set(version, { ...sum, version, absentCommands: absentUnder(version) });
  }
  return table;
})();

function absentUnder(version: RulesVersion): ReadonlySet<string> {
  const age = (one: RulesVersion): number => CHANGES.findIndex(([name]) => name === one);
  return new Set(NEW_COMMANDS.flatMap(([since, names]) => (age(since) > age(version) ? names : [])));
}

/** Every version that has rules, oldest first. */
export const RULES_VERSIONS: readonly RulesVersion[] = CHANGES.map(([version]) => version);

/**
 * The rules of one release.
 * @param version e.g. `"8.0"`
 * @throws CommandError BadValue (2) for a version that has no rules
 * @example rulesFor("7.0").initialChunksPerShard // 2
 */
export function rulesFor(version: RulesVersion): Rules {
  const rules = TABLE.get(version);
  if (!rules) {
    const error = new CommandError(ErrorCode.BadValue, `no rules for version ${version}`);
    error.remedy = `choose one of ${RULES_VERSIONS.join(", ")}`;
    throw error;
  }
  return rules;
}
