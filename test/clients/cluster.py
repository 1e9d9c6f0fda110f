"""A sharded collection through the router with Debian's pymongo; prints one JSON line that the test asserts."""

import sys

from bson import Int64, json_util
from pymongo import ASCENDING, DeleteOne, HASHED, InsertOne, MongoClient, ReturnDocument, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure

# pymongo 3 writes UUIDs as the legacy subtype 3 unless told otherwise.
client = MongoClient(sys.argv[1], uuidRepresentation="standard")
admin = client.admin
db = client.school
pupils = db.pupils
seen = {}


def code(work):
    """The code of the error that `work` ends in."""
    try:
        work()
    except OperationFailure as error:
        return error.code
    return None


def route(plan):
    """The merge that an explain shows, and the shards it asks."""
    winning = plan["queryPlanner"]["winningPlan"]
    return [winning["stage"], [shard["shardName"] for shard in winning["shards"]]]


seen["isMongos"] = client.is_mongos
admin.command("enableSharding", "school", primaryShard="shardA")
admin.command("shardCollection", "school.pupils", key={"form": 1, "_id": 1})
admin.command("split", "school.pupils", middle={"form": 2, "_id": 0})
admin.command("moveChunk", "school.pupils", find={"form": 2, "_id": 0}, to="shardB")

# Forms 0 and 1 are on shardA, 2 and 3 on shardB.
pupils.insert_many([{"_id": n, "form": n % 4, "name": "p%02d" % n, "marks": [n, n * 2]} for n in range(20)])
seen["find"] = [p["_id"] for p in pupils.find({"form": 1}).sort("_id", -1)]
seen["merged"] = [p["_id"] for p in pupils.find({"_id": {"$gte": 5}}, batch_size=3).sort("name", 1).skip(2).limit(7)]
seen["count"] = [pupils.count_documents({"marks": {"$gte": 30}}), pupils.estimated_document_count()]
seen["distinct"] = sorted(pupils.distinct("form", {"_id": {"$lt": 3}}))
seen["update"] = pupils.update_many({"_id": {"$lt": 6}}, {"$set": {"seen": True}}).modified_count
seen["updateOne"] = pupils.update_one({"form": 3, "_id": 7}, {"$inc": {"visits": Int64(5)}}).modified_count
seen["upsert"] = pupils.update_one({"form": 3, "_id": 77}, {"$set": {"name": "late"}}, upsert=True).upserted_id
seen["findAndModify"] = pupils.find_one_and_update(
    {"form": 3, "_id": 77}, {"$set": {"name": "later"}}, return_document=ReturnDocument.AFTER
)
seen["replace"] = pupils.replace_one({"form": 3, "_id": 77}, {"form": 3, "name": "last"}).modified_count
seen["delete"] = [pupils.delete_one({"form": 3, "_id": 77}).deleted_count, pupils.delete_many({"form": 9}).deleted_count]
seen["moved"] = [
    pupils.update_one({"form": 0, "_id": 4}, {"$set": {"form": 2}}).modified_count,
    pupils.find_one({"_id": 4})["form"],
    pupils.update_one({"form": 2, "_id": 4}, {"$set": {"form": 0}}).modified_count,
]

bulk = pupils.bulk_write(
    [
        InsertOne({"_id": 100, "form": 0}),
        InsertOne({"_id": 101, "form": 3}),
        UpdateOne({"form": 3, "_id": 101}, {"$set": {"bulk": 1}}),
        UpdateMany({"_id": {"$gte": 100}}, {"$set": {"late": True}}),
        DeleteOne({"form": 0, "_id": 100}),
        DeleteOne({"form": 3, "_id": 101}),
    ]
)
seen["bulk"] = [bulk.inserted_count, bulk.modified_count, bulk.deleted_count]
try:
    pupils.bulk_write(
        [InsertOne({"_id": 1, "form": 1}), InsertOne({"_id": 200, "form": 0}), InsertOne({"_id": 2, "form": 2})],
        ordered=False,
    )
except BulkWriteError as error:
    seen["bulkErrors"] = [error.details["nInserted"]] + [[e["index"], e["code"]] for e in error.details["writeErrors"]]
pupils.delete_one({"form": 0, "_id": 200})

pupils.create_index([("form", ASCENDING), ("_id", ASCENDING), ("name", ASCENDING)], unique=True)
pupils.create_index([("name", HASHED)])
seen["indexes"] = sorted(pupils.index_information())
seen["noUnique"] = code(lambda: pupils.create_index("name", unique=True))
try:
    pupils.insert_one({"_id": 1, "form": 1, "name": "p01"})
except DuplicateKeyError as error:
    seen["duplicate"] = [error.code, error.details["keyPattern"]]

seen["explain"] = [
    route(pupils.find({"form": 3, "_id": 7}).explain()),
    route(pupils.find({"form": {"$in": [0, 3]}}).explain()),
    route(pupils.find({}).sort("name", 1).explain()),
]

seen["group"] = list(
    pupils.aggregate(
        [
            {"$group": {"_id": "$form", "n": {"$sum": 1}, "best": {"$max": {"$arrayElemAt": ["$marks", 1]}}}},
            {"$sort": {"_id": 1}},
        ]
    )
)
db.forms.insert_many([{"_id": n, "teacher": "t%d" % n} for n in range(4)])
seen["lookup"] = list(
    pupils.aggregate(
        [
            {"$match": {"_id": {"$in": [1, 7]}}},
            {"$lookup": {"from": "forms", "localField": "form", "foreignField": "_id", "as": "form"}},
            {"$project": {"teacher": {"$first": "$form.teacher"}}},
            {"$sort": {"_id": 1}},
        ]
    )
)
seen["lookupSharded"] = list(
    db.forms.aggregate(
        [
            {"$lookup": {"from": "pupils", "localField": "_id", "foreignField": "form", "as": "pupils"}},
            {"$project": {"n": {"$size": "$pupils"}}},
            {"$sort": {"_id": 1}},
        ]
    )
)
seen["facet"] = list(
    pupils.aggregate([{"$facet": {"all": [{"$count": "n"}], "third": [{"$match": {"form": 3}}, {"$count": "n"}]}}])
)
pupils.aggregate([{"$match": {"form": 2}}, {"$out": "second"}])
seen["out"] = db.second.count_documents({})

db.create_collection("seniors", viewOn="pupils", pipeline=[{"$match": {"form": 3}}, {"$project": {"name": 1}}])
seen["view"] = [
    [d["name"] for d in db.seniors.find().sort("_id", 1)],
    db.seniors.count_documents({"_id": {"$gt": 7}}),
    db.seniors.distinct("name", {"_id": 3}),
]

with client.start_session(causal_consistency=True) as session:
    pupils.insert_one({"_id": 400, "form": 0}, session=session)
    seen["session"] = pupils.count_documents({"form": 0}, session=session)

seen["errors"] = [
    code(lambda: pupils.insert_one({"_id": 500, "form": [1]})),
    code(lambda: list(pupils.find({"$nope": 1}))),
    code(lambda: list(pupils.aggregate([{"$nope": 1}]))),
    code(lambda: db.command("nope")),
    code(lambda: admin.command("shardCollection", "school.pupils", key={"name": 1})),
]
seen["collections"] = sorted(db.list_collection_names())
seen["stats"] = [db.command("collStats", "pupils")["sharded"], db.command("dbStats")["ok"]]
with client.start_session() as session:
    # What a driver does when a connection breaks: the same number again.
    write = {"insert": "pupils", "documents": [{"_id": 401, "form": 3}], "txnNumber": Int64(1000)}
    seen["retried"] = [db.command(dict(write), session=session)["n"] for _ in range(2)]
    seen["once"] = pupils.count_documents({"_id": 401})
client.drop_database("school")
seen["dropped"] = ["school" in client.list_database_names(), client.config.collections.count_documents({})]
print(json_util.dumps(seen, json_options=json_util.RELAXED_JSON_OPTIONS))
client.close()
