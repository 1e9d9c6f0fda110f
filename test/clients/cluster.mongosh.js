// What a student types into mongosh on a sharded cluster, run with `mongosh --file`; prints one line of EJSON that the
// test asserts.
/* global db:writable, sh, print, EJSON */
const seen = {};
db = db.getSiblingDB("library");

/** The code of the error that `work` ends in. */
function code(work) {
  try {
    work();
    return null;
  } catch (error) {
    return error.code ?? error.message;
  }
}

/** The merge that an explain shows, its shards, and what each of them does first. */
function route({ queryPlanner: { winningPlan } }) {
  const shards = winningPlan.shards ?? [];
  return [winningPlan.stage, shards.map(({ shardName }) => shardName), shards[0]?.winningPlan.stage];
}

seen.enableSharding = sh.enableSharding("library", "shardA").ok;
seen.shardCollection = sh.shardCollection("library.loans", { memberId: 1 }).collectionsharded;
seen.splitAt = sh.splitAt("library.loans", { memberId: 50 }).ok;
seen.moveChunk = sh.moveChunk("library.loans", { memberId: 50 }, "shardB").ok;
seen.again = code(() => sh.shardCollection("library.loans", { bookId: 1 }));
seen.balancer = [sh.getBalancerState(), sh.isBalancerRunning().mode];
sh.stopBalancer();
seen.stopped = [sh.getBalancerState(), sh.isBalancerRunning().mode];
sh.startBalancer();

// CRUD
seen.insertMany = Object.keys(
  db.loans.insertMany([...Array(100).keys()].map((n) => ({ _id: n, memberId: n, days: n % 10 }))).insertedIds,
).length;
seen.find = db.loans
  .find({ memberId: { $gte: 48, $lt: 52 } }, { days: 1 })
  .sort({ _id: -1 })
  .toArray();
seen.skipLimit = db.loans
  .find()
  .sort({ days: 1, _id: -1 })
  .skip(9)
  .limit(3)
  .map(({ _id }) => _id)
  .toArray();
seen.count = [db.loans.countDocuments({ days: 3 }), db.loans.estimatedDocumentCount()];
seen.distinct = db.loans.distinct("days", { memberId: { $lt: 3 } });
seen.updateOne = db.loans.updateOne({ memberId: 7 }, { $set: { late: true } }).modifiedCount;
seen.updateMany = db.loans.updateMany({ days: 9 }, { $inc: { days: 1 } }).modifiedCount;
seen.upsert = db.loans.updateOne({ memberId: 500 }, { $set: { _id: 500 } }, { upsert: true }).insertedId;
seen.findAndModify = db.loans.findAndModify({
  query: { memberId: 500 },
  update: { $set: { days: 5 } },
  new: true,
});
seen.moved = db.loans.updateOne({ _id: 7, memberId: 7 }, { $set: { memberId: 77 } }).modifiedCount;
seen.deleted = [
  db.loans.deleteOne({ memberId: 500 }).deletedCount,
  db.loans.deleteMany({ days: 8 }).deletedCount,
];
seen.bulkWrite = (({ insertedCount, modifiedCount, deletedCount }) => [
  insertedCount,
  modifiedCount,
  deletedCount,
])(
  db.loans.bulkWrite([
    { insertOne: { document: { _id: 600, memberId: 600 } } },
    { updateOne: { filter: { memberId: 600 }, update: { $set: { days: 1 } } } },
    { deleteOne: { filter: { memberId: 600 } } },
  ]),
);
seen.aggregate = db.loans
  .aggregate([
    { $match: { days: { $lt: 3 } } },
    { $group: { _id: "$days", n: { $sum: 1 }, top: { $max: "$memberId" } } },
    { $sort: { _id: 1 } },
  ])
  .toArray();
seen.indexes = [db.loans.createIndex({ days: 1 }), db.loans.getIndexes().map(({ name }) => name)];
seen.unique = code(() => db.loans.createIndex({ days: 1, x: 1 }, { unique: true }));

// Where do queries go?
seen.explainKey = route(db.loans.find({ memberId: 20 }).explain());
seen.explainRange = route(db.loans.find({ memberId: { $gt: 60 } }).explain());
seen.explainOther = route(db.loans.find({ days: 1 }).explain());
seen.explainSort = route(db.loans.find().sort({ days: 1 }).explain());
seen.explainStats = (({ nReturned, totalKeysExamined, totalDocsExamined }) => [
  nReturned,
  totalKeysExamined,
  totalDocsExamined,
])(db.loans.find({ days: 1 }).explain("executionStats").executionStats);
seen.explainUpdate = route(db.loans.explain().update({ memberId: 20 }, { $set: { x: 1 } }));
seen.explainCount = route(db.loans.explain().count({ memberId: 20 }));
seen.explainAggregate = Object.keys(
  db.loans.explain().aggregate([{ $group: { _id: "$days" } }]).shards ?? {},
).sort();

// Where are the documents?
const distribution = db.loans.getShardDistribution();
const { Totals, ...perShard } = distribution.value ?? distribution;
seen.distribution = Object.entries(perShard).map(([title, { docs, chunks }]) => [
  title.replace(/ at .*/, ""),
  docs,
  chunks,
]);
seen.totals = [Totals.docs, Totals.chunks];
seen.data = sh
  .getShardedDataDistribution()
  .toArray()
  .map(({ ns, shards }) => [
    ns,
    shards
      .map(({ shardName, numOwnedDocuments, numOrphanedDocs }) => [
        shardName,
        Number(numOwnedDocuments),
        Number(numOrphanedDocs),
      ])
      .sort(),
  ]);
const collStats = db.loans.stats();
seen.collStats = [
  collStats.sharded,
  collStats.count,
  collStats.nindexes,
  Object.keys(collStats.shards).sort(),
];
const dbStats = db.stats();
seen.dbStats = [dbStats.db, dbStats.objects, Object.keys(dbStats.raw ?? {}).length, dbStats.ok];

// The catalog
const status = sh.status().value;
seen.statusKeys = Object.keys(status);
seen.shards = status.shards.map(({ _id, state }) => [_id, state]);
seen.mongoses = Object.keys(status["active mongoses"][0]).map((version) => /^8\.\d+\.\d+/.test(version));
const library = status.databases.find(({ database }) => database._id === "library");
seen.statusLibrary = [library.database.primary, library.collections["library.loans"].chunkMetadata];
seen.statusChunks = library.collections["library.loans"].chunks.map(({ min, max, ...rest }) => [
  min.memberId,
  max.memberId,
  rest["on shard"],
]);
seen.config = [
  db.getSiblingDB("config").shards.countDocuments(),
  db.getSiblingDB("config").collections.findOne({ _id: "library.loans" }).key,
  db.getSiblingDB("config").changelog.distinct("what").includes("moveChunk.commit"),
];
seen.listShards = sh.listShards().map(({ _id }) => _id);

// The router as a server
seen.isdbgrid = [db.hello().msg, db.adminCommand({ isdbgrid: 1 }).isdbgrid];
const serverStatus = db.serverStatus();
seen.serverStatus = [
  serverStatus.process,
  Number(serverStatus.opcounters.insert) >= 101,
  Number(serverStatus.shardingStatistics.numHostsTargeted.find.allShards) > 0,
  serverStatus.connections.current > 0,
];
seen.hostInfo = db.hostInfo().system.numCores > 0;
seen.currentOp = db.currentOp().inprog.every(({ shard, opid }) => opid.startsWith(`${shard}:`));
seen.killOp = db.killOp("shardA:1").shard;
seen.shardMap = Object.keys(db.adminCommand({ getShardMap: 1 }).map).sort();
seen.profiling = code(() => db.setProfilingLevel(1));
seen.fsync = [db.fsyncLock().ok, db.fsyncUnlock().ok];
seen.commands = Object.keys(db.adminCommand({ listCommands: 1 }).commands).includes("shardCollection");
seen.errors = [code(() => db.adminCommand({ top: 1 })), code(() => db.loans.insertOne({ memberId: [1] }))];

seen.unsharded = (() => {
  db.books.insertMany([
    { _id: 1, title: "Emma" },
    { _id: 2, title: "Ulysses" },
  ]);
  const plan = db.books.find({ title: "Emma" }).explain().queryPlanner.winningPlan;
  return [plan.stage, plan.shards[0].shardName, db.books.find({ title: "Emma" }).toArray()];
})();
seen.collections = db.getCollectionNames().sort();
seen.drop = [db.books.drop(), db.loans.drop(), db.loans.drop()];
seen.dropDatabase = db.dropDatabase().ok;
seen.databases = db.getMongo().getDBNames();
print(EJSON.stringify(seen));
