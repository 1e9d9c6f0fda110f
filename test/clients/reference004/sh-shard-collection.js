// enableSharding is optional: the first shardCollection creates the database and gives it a primary shard.
/* global db, sh, print, printjson */
const reply = sh.shardCollection("library.loans", { memberId: 1 });
print("shardCollection ok:", reply.ok);
printjson(db.getSiblingDB("config").databases.find({ _id: "library" }, { primary: 1 }).toArray());
