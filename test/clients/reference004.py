"""The experiments of reference/004 with pymongo, given only a connection string.

Prints one JSON line; the test asserts it.
"""

import json
import sys

from pymongo import MongoClient

# pymongo 3 writes UUIDs as the legacy subtype 3 unless told otherwise.
client = MongoClient(sys.argv[1], uuidRepresentation="standard")
admin = client.admin
lib = client.library
result = {}

result["shardCollection"] = admin.command("shardCollection", "library.loans", key={"memberId": 1})["ok"]
result["primary"] = client.config.databases.find_one({"_id": "library"}, {"_id": 0, "primary": 1})["primary"]
result["balancer"] = admin.command("balancerStatus")["mode"]

admin.command("shardCollection", "library.events", key={"deviceId": "hashed"})
for start in range(0, 100000, 10000):
    batch = [{"deviceId": "dev-%d" % (i % 5000), "i": i} for i in range(start, start + 10000)]
    lib.events.insert_many(batch, ordered=False)


def route(query):
    plan = lib.events.find(query).explain()["queryPlanner"]["winningPlan"]
    return [plan["stage"], [shard["shardName"] for shard in plan["shards"]]]


result["equality"] = route({"deviceId": "dev-42"})
result["otherField"] = route({"i": 42})
result["range"] = route({"deviceId": {"$gte": "dev-1", "$lt": "dev-2"}})

admin.command("shardCollection", "library.readings_ranged", key={"ts": 1})
for start in range(0, 100000, 10000):
    lib.readings_ranged.insert_many([{"ts": i} for i in range(start, start + 10000)], ordered=False)


def rows(name):
    pipeline = [{"$collStats": {"storageStats": {}}}, {"$project": {"_id": 0, "shard": 1, "docs": "$storageStats.count"}}]
    return sorted(([row["shard"], row["docs"]] for row in lib[name].aggregate(pipeline)))


result["hashed"] = rows("events")
result["ranged"] = rows("readings_ranged")
result["found"] = lib.events.count_documents({"deviceId": "dev-42"})
top = next(c["shard"] for c in client.config.chunks.find({"uuid": client.config.collections.find_one({"_id": "library.events"})["uuid"]}).sort("min", -1))
result["ownerOfTop"] = top
duplicate = None
try:
    lib.loans.insert_one({"_id": 1, "memberId": 1})
    lib.loans.insert_one({"_id": 1, "memberId": 1})
except Exception as error:
    duplicate = error.code
result["duplicate"] = duplicate
print(json.dumps(result))
client.close()
