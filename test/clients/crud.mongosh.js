// What a student types into mongosh, run with `mongosh --file`; prints one line of EJSON that the test asserts.
/* global db:writable, print, EJSON */
const seen = {};
db = db.getSiblingDB("garden");

/** The code of the error that `work` ends in. */
function code(work) {
  try {
    work();
    return null;
  } catch (error) {
    return error.code ?? error.message;
  }
}

seen.insert = db.plants.insertMany([
  { _id: 1, name: "rose", height: 120, colours: ["red", "white"] },
  { _id: 2, name: "fern", height: 60, colours: [] },
  { _id: 3, name: "iris", height: 80, colours: ["blue"] },
  { _id: 4, name: "lily", height: 100 },
]).acknowledged;
seen.find = db.plants
  .find({ height: { $gte: 80 } }, { name: 1 })
  .sort({ height: -1 })
  .toArray();
seen.findOne = db.plants.findOne({ colours: "blue" }).name;
seen.countDocuments = db.plants.countDocuments({ colours: { $size: 0 } });
seen.estimated = db.plants.estimatedDocumentCount();
seen.distinct = db.plants.distinct("colours");
seen.update = db.plants.updateMany({ height: { $lt: 100 } }, { $inc: { height: 1 } }).modifiedCount;
seen.upsert = db.plants.replaceOne({ _id: 9 }, { name: "moss" }, { upsert: true }).upsertedCount;
seen.findAndModify = db.plants.findAndModify({
  query: { _id: 9 },
  update: { $set: { height: 2 } },
  new: true,
});
seen.findOneAndDelete = db.plants.findOneAndDelete({ _id: 9 }).name;
seen.bulkWrite = db.plants.bulkWrite([
  { insertOne: { document: { _id: 5, name: "reed" } } },
  { updateOne: { filter: { _id: 5 }, update: { $set: { height: 200 } } } },
  { deleteOne: { filter: { _id: 5 } } },
]);
seen.bulkWrite = [seen.bulkWrite.insertedCount, seen.bulkWrite.modifiedCount, seen.bulkWrite.deletedCount];

db.plants.createIndex({ height: 1 });
db.plants.createIndex({ name: 1 }, { unique: true, name: "byName" });
db.plants.createIndex({ colours: 1, height: -1 }, { partialFilterExpression: { height: { $gt: 10 } } });
db.plants.createIndex({ dies: 1 }, { expireAfterSeconds: 5 });
db.plants.createIndex({ name: "hashed" }, { hidden: true });
seen.getIndexes = db.plants.getIndexes();
seen.unique = code(() => db.plants.insertOne({ name: "rose" }));
db.plants.hideIndex("height_1");
seen.hidden = db.plants.find({ height: 120 }).explain().queryPlanner.winningPlan.stage;
db.plants.unhideIndex("height_1");
db.plants.dropIndex("name_hashed");

seen.explainFind = (({ stage, inputStage }) => [stage, inputStage.stage, inputStage.indexBounds])(
  db.plants.find({ height: { $gt: 60, $lte: 100 } }).explain().queryPlanner.winningPlan,
);
seen.explainStats = (({ nReturned, totalKeysExamined, totalDocsExamined }) => [
  nReturned,
  totalKeysExamined,
  totalDocsExamined,
])(
  db.plants
    .explain("executionStats")
    .find({ height: { $gt: 60, $lte: 100 } })
    .finish().executionStats,
);
seen.explainAggregate = (({ stage, indexName }) => [stage, indexName])(
  db.plants.explain().aggregate([{ $match: { name: "rose" } }]).queryPlanner.winningPlan,
);
seen.explainUpdate = db.plants
  .explain("executionStats")
  .update({ height: 120 }, { $set: { seen: true } }).queryPlanner.winningPlan.stage;
seen.notWritten = db.plants.countDocuments({ seen: true });
seen.explainRemove = db.plants.explain().remove({ height: 120 }).queryPlanner.winningPlan.stage;
seen.explainCount = db.plants.explain().count({ height: 120 }).queryPlanner.winningPlan.stage;

seen.aggregate = db.plants
  .aggregate([
    { $unwind: { path: "$colours", preserveNullAndEmptyArrays: true } },
    { $group: { _id: { $ifNull: ["$colours", "none"] }, tallest: { $max: "$height" } } },
    { $sort: { _id: 1 } },
  ])
  .toArray();
db.plants.aggregate([{ $set: { tall: { $gte: ["$height", 100] } } }, { $merge: { into: "sizes" } }]);
seen.merge = db.sizes.countDocuments({ tall: true });

db.createView("tall", "plants", [{ $match: { height: { $gte: 100 } } }]);
seen.view = db.tall
  .find()
  .sort({ _id: 1 })
  .map((plant) => plant.name)
  .toArray();
db.createCollection("strict", { validator: { height: { $type: "number" } }, validationAction: "error" });
seen.validator = code(() => db.strict.insertOne({ height: "high" }));
seen.collMod = db.runCommand({ collMod: "strict", validator: {} }).ok;
db.createCollection("log", { capped: true, size: 4096, max: 2 });
[1, 2, 3].forEach((n) => db.log.insertOne({ n }));
seen.capped = [db.log.isCapped(), db.log.find({}, { _id: 0 }).toArray()];
seen.rename = db.sizes.renameCollection("dimensions").ok;
seen.infos = db.getCollectionInfos({ name: "tall" })[0].options;
seen.collections = db.getCollectionNames().sort();

const stats = db.stats();
seen.dbStats = [stats.db, stats.views, stats.ok];
const collStats = db.plants.stats();
seen.collStats = [
  collStats.ns,
  collStats.count,
  collStats.nindexes,
  collStats.capped,
  Object.keys(collStats.indexSizes).sort(),
];
const sizes = [db.plants.dataSize(), db.plants.totalIndexSize(), db.plants.storageSize()];
seen.sizes = sizes.map((size) => size > 0);
seen.validate = db.plants.validate().valid;
seen.isWritablePrimary = db.hello().isWritablePrimary;
seen.version = /^8\.\d+\.\d+-shardlab$/.test(db.version());
seen.buildInfo = String(db.serverBuildInfo().modules);
const status = db.serverStatus();
seen.serverStatus = [
  status.process,
  typeof status.connections.current,
  Number(status.opcounters.query) > 0,
  status.ok,
];
seen.currentOp = db.currentOp({ "command.currentOp": 1 }).ok ?? db.currentOp().inprog.length >= 0;
seen.adminCommand = db.adminCommand({ ping: 1 }).ok;
seen.getParameter = db.adminCommand({ getParameter: 1, ttlMonitorSleepSecs: 1 }).ttlMonitorSleepSecs;
seen.listCommands = Object.keys(db.adminCommand({ listCommands: 1 }).commands ?? {}).includes("find");
seen.hostInfo = typeof db.hostInfo().system.numCores;
seen.cmdLine = db.adminCommand({ getCmdLineOpts: 1 }).ok;
seen.errors = [
  code(() => db.plants.find({ $nope: 1 }).toArray()),
  code(() => db.plants.insertOne({ _id: 1 })),
  code(() => db.runCommand({ nope: 1 })),
  code(() => db.plants.createIndex({ where: "2dsphere" })),
];
seen.drop = [db.plants.drop(), db.plants.drop()];
seen.dropDatabase = db.dropDatabase().ok;
print(EJSON.stringify(seen));
