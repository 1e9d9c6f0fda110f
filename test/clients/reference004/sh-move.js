// Changing your mind later: unsharded collections that move, and a sharded one that is none any more.
/* global db:writable, sh, print */
db = db.getSiblingDB("library");
db.members.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
const home = db.members.getShardLocation().shards[0];
const other = home === "shardA" ? "shardB" : "shardA";
print("moveCollection ok:", sh.moveCollection("library.members", other).ok);
print("moved:", db.members.getShardLocation().shards[0] === other, db.members.countDocuments());
print("unshardCollection ok:", sh.unshardCollection("library.tickers", other).ok);
print("unsharded:", JSON.stringify(db.tickers.getShardLocation().sharded), db.tickers.countDocuments());
