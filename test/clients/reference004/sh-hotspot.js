// Spot the bug: the timestamp as shard key.
/* global db:writable, sh, print */
db = db.getSiblingDB("library");
const keys = { readings_ranged: { ts: 1 }, readings_hashed: { deviceId: "hashed" } };
for (const [name, key] of Object.entries(keys)) {
  sh.shardCollection("library." + name, key);
  const c = db.getCollection(name);
  for (let from = 0; from < 100000; from += 10000) {
    const batch = [];
    for (let i = from; i < from + 10000; i++) batch.push({ ts: i, deviceId: "dev-" + (i % 5000) });
    c.insertMany(batch, { ordered: false });
  }
  const rows = c
    .aggregate([
      { $collStats: { storageStats: {} } },
      { $project: { _id: 0, shard: 1, docs: "$storageStats.count" } },
    ])
    .toArray();
  rows.sort((x, y) => y.docs - x.docs);
  print(name, JSON.stringify(rows.map(({ shard, docs }) => [shard, docs])));
}
