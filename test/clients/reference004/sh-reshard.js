// Changing your mind later: another key.
/* global db:writable, sh, print */
db = db.getSiblingDB("library");
const keyOf = (ns) => JSON.stringify(db.getSiblingDB("config").collections.findOne({ _id: ns }).key);
const batch = [];
for (let i = 0; i < 10000; i++) batch.push({ ts: i, deviceId: "dev-" + (i % 5000) });
db.tickers.insertMany(batch);
db.tickers.createIndex({ ts: 1 });
sh.shardCollection("library.tickers", { ts: 1 });
print("before", keyOf("library.tickers"));
const started = db.adminCommand({ hello: 1 }).localTime;
const reply = sh.reshardCollection("library.tickers", { deviceId: "hashed" });
const seconds = (db.adminCommand({ hello: 1 }).localTime - started) / 1000;
print("reshardCollection ok:", reply.ok, "at least five minutes:", seconds >= 300);
print("after", keyOf("library.tickers"));
print("documents", db.tickers.countDocuments());
