// Every sharding helper of mongosh, each once, on a cluster of two shards; prints one line of EJSON that the test asserts,
// helper by helper. A helper that throws is seen as its code and message.
/* global db:writable, sh, print, EJSON, MinKey, MaxKey */
const seen = {};
db = db.getSiblingDB("library");
const config = db.getSiblingDB("config");
const ns = "library.loans";

/** What a helper gives, or what it ends in. */
function see(name, work) {
  try {
    seen[name] = work();
  } catch (error) {
    seen[name] = { code: error.code, message: error.message };
  }
}
/** The fields of an update's result that say what it did. */
const changed = ({ acknowledged, matchedCount, upsertedCount }) => [
  acknowledged,
  matchedCount,
  upsertedCount,
];
/** The chunks of a collection: lower bound and shard. */
const chunks = (name) =>
  config.chunks
    .find({ uuid: config.collections.findOne({ _id: name }).uuid })
    .sort({ min: 1 })
    .map(({ min, shard }) => [Object.values(min)[0], shard])
    .toArray();
const entry = (name) => config.collections.findOne({ _id: name });
const setting = (_id) => config.settings.findOne({ _id });
const docs = Array.from({ length: 1000 }, (_, memberId) => ({
  _id: memberId,
  memberId,
  days: memberId % 10,
}));

see("enableSharding", () => sh.enableSharding("library", "shardA").ok);
see("shardCollection", () => sh.shardCollection(ns, { memberId: 1 }).collectionsharded);
see("stopBalancer", () => [sh.stopBalancer().ok, sh.getBalancerState(), sh.isBalancerRunning().mode]);
db.loans.insertMany(docs);

// Chunks
see("splitAt", () => sh.splitAt(ns, { memberId: 500 }).ok);
see("splitFind", () => sh.splitFind(ns, { memberId: 100 }).ok);
see("moveChunk", () => sh.moveChunk(ns, { memberId: 600 }, "shardB").ok);
see("moveRange", () => sh.moveRange(ns, "shardB", { memberId: 250 }, { memberId: 300 }).ok);
see("moveRange.min", () => sh.moveRange(ns, "shardA", { memberId: 250 }).ok);
see("moveRange.max", () => sh.moveRange(ns, "shardB", undefined, { memberId: 500 }).ok);
see("chunks", () => chunks(ns));

// Balancer
see("startBalancer", () => [sh.startBalancer().ok, sh.getBalancerState()]);
see("setBalancerState", () => [sh.setBalancerState(false).ok, sh.getBalancerState()]);
see("isBalancerRunning", () =>
  (({ mode, inBalancerRound, numBalancerRounds }) => [
    mode,
    inBalancerRound,
    typeof Number(numBalancerRounds),
  ])(sh.isBalancerRunning()),
);
see("disableBalancing", () => [changed(sh.disableBalancing(ns)), entry(ns).noBalance]);
see("enableBalancing", () => [changed(sh.enableBalancing(ns)), entry(ns).noBalance]);
see("balancerCollectionStatus", () =>
  (({ chunkSize, balancerCompliant }) => [Number(chunkSize), balancerCompliant])(
    sh.balancerCollectionStatus(ns),
  ),
);
see("stopAutoMerger", () => [
  changed(sh.stopAutoMerger()),
  sh.isAutoMergerEnabled(),
  setting("automerge").enabled,
]);
see("startAutoMerger", () => [changed(sh.startAutoMerger()), sh.isAutoMergerEnabled()]);
see("disableAutoMerger", () => [changed(sh.disableAutoMerger(ns)), entry(ns).enableAutoMerge]);
see("enableAutoMerger", () => [changed(sh.enableAutoMerger(ns)), "enableAutoMerge" in entry(ns)]);
see("disableAutoSplit", () => [changed(sh.disableAutoSplit()), setting("autosplit").enabled]);
see("enableAutoSplit", () => [changed(sh.enableAutoSplit()), setting("autosplit").enabled]);
see("disableMigrations", () => sh.disableMigrations(ns).ok);
see("disableMigrations.moveChunk", () => sh.moveChunk(ns, { memberId: 0 }, "shardB").ok);
see("enableMigrations", () => [sh.enableMigrations(ns).ok, chunks(ns).length]);

// Zones
see("addShardToZone", () => sh.addShardToZone("shardA", "low").ok);
see("addShardTag", () => sh.addShardTag("shardB", "high").ok);
see("zones", () => sh.listShards().map(({ _id, tags }) => [_id, tags]));
see(
  "updateZoneKeyRange",
  () => sh.updateZoneKeyRange(ns, { memberId: MinKey() }, { memberId: 500 }, "low").ok,
);
see("addTagRange", () => sh.addTagRange(ns, { memberId: 500 }, { memberId: MaxKey() }, "high").ok);
see("tags", () =>
  config.tags
    .find({ ns })
    .sort({ min: 1 })
    .map(({ min, max, tag }) => [min.memberId, max.memberId, tag])
    .toArray(),
);
see("status.tags", () =>
  sh
    .status()
    .value.databases.find(({ database }) => database._id === "library")
    .collections[ns].tags.map(({ tag }) => tag),
);
see("removeRangeFromZone", () => sh.removeRangeFromZone(ns, { memberId: MinKey() }, { memberId: 500 }).ok);
see("removeTagRange", () => [
  sh.removeTagRange(ns, { memberId: 500 }, { memberId: MaxKey() }).ok,
  config.tags.countDocuments(),
]);
see("removeShardFromZone", () => sh.removeShardFromZone("shardA", "low").ok);
see("removeShardTag", () => [sh.removeShardTag("shardB", "high").ok, sh.listShards()[1].tags]);

// Measuring and looking
see("isConfigShardEnabled", () => sh.isConfigShardEnabled());
see("getShardedDataDistribution", () =>
  sh
    .getShardedDataDistribution()
    .toArray()
    .filter((row) => row.ns === ns)
    .flatMap(({ shards }) => shards.map((row) => [row.shardName, Number(row.numOwnedDocuments)]))
    .sort(),
);
see("checkMetadataConsistency", () => [
  sh.checkMetadataConsistency().toArray(),
  db.checkMetadataConsistency().toArray(),
  db.loans.checkMetadataConsistency().toArray(),
]);
see("getShardLocation", () => db.loans.getShardLocation());
see("counts", () => [db.loans.countDocuments({ days: 3 }), db.loans.estimatedDocumentCount()]);
see("analyzeShardKey", () => {
  db.loans.createIndex({ days: 1 });
  const { keyCharacteristics } = db.loans.analyzeShardKey({ days: 1 }, { readWriteDistribution: false });
  const { numDocsTotal, numDistinctValues, mostCommonValues, isUnique } = keyCharacteristics;
  return [Number(numDocsTotal), Number(numDistinctValues), Number(mostCommonValues[0].frequency), isUnique];
});
see("configureQueryAnalyzer", () => {
  const { newConfiguration, ok } = db.loans.configureQueryAnalyzer({ mode: "full", samplesPerSecond: 5 });
  const { oldConfiguration } = db.loans.configureQueryAnalyzer({ mode: "off" });
  return [newConfiguration.mode, Number(newConfiguration.samplesPerSecond), ok, oldConfiguration.mode];
});

// Other keys, other places
see("commitReshardCollection", () => sh.commitReshardCollection(ns));
see("abortReshardCollection", () => sh.abortReshardCollection(ns));
see("reshardCollection", () => [
  sh.reshardCollection(ns, { _id: "hashed" }).ok,
  entry(ns).key,
  db.loans.countDocuments(),
  chunks(ns).length,
  [...new Set(chunks(ns).map(([, shard]) => shard))].sort(),
]);
see("shardAndDistributeCollection", () => {
  db.books.insertMany(docs);
  db.books.createIndex({ _id: "hashed" });
  const { ok } = sh.shardAndDistributeCollection("library.books", { _id: "hashed" });
  return [
    ok,
    db.books.countDocuments(),
    [...new Set(chunks("library.books").map(([, shard]) => shard))].sort(),
  ];
});
db.members.insertMany([{ _id: 1 }, { _id: 2 }]);
see("moveCollection", () => [
  sh.moveCollection("library.members", "shardB").ok,
  db.members.getShardLocation(),
  db.members.countDocuments(),
]);
see("abortMoveCollection", () => sh.abortMoveCollection("library.members"));
see("unshardCollection", () => [
  sh.unshardCollection("library.books", "shardB").ok,
  db.books.getShardLocation(),
  db.books.countDocuments(),
]);
see("abortUnshardCollection", () => sh.abortUnshardCollection("library.books"));

// Shards
see("addShard", () => [sh.addShard(process.env.SHARD_C).shardAdded, sh.listShards().map(({ _id }) => _id)]);
see("listShards.filter", () => sh.listShards({ draining: true }));
see("removeShard", () => {
  const states = [];
  for (let i = 0; i < 5 && states.at(-1) !== "completed"; i++)
    states.push(db.adminCommand({ removeShard: "shardC" }).state);
  return [states[0], states.at(-1), sh.listShards().length];
});
sh.startBalancer();
see("status", () => {
  const { value } = sh.status();
  return [
    Object.keys(value).filter((section) => section !== "automerge"),
    value.shards.length,
    value.balancer["Currently enabled"],
    value.autosplit["Currently enabled"],
  ];
});
print(EJSON.stringify(seen));
