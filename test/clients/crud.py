"""CRUD, indexes, aggregation and explain with Debian's pymongo; prints one JSON line that the test asserts."""

import json
import sys
import uuid

from bson import Decimal128, Int64, json_util
from pymongo import ASCENDING, DESCENDING, HASHED, InsertOne, MongoClient, ReturnDocument, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, WriteError

# pymongo 3 writes UUIDs as the legacy subtype 3 unless told otherwise.
client = MongoClient(sys.argv[1], uuidRepresentation="standard")
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


pupils.insert_many([{"_id": n, "name": "p%d" % n, "form": n % 3, "marks": [n, n * 2]} for n in range(10)])
seen["find"] = [p["_id"] for p in pupils.find({"form": 1}).sort("_id", DESCENDING)]
seen["elemMatch"] = [p["_id"] for p in pupils.find({"marks": {"$elemMatch": {"$gt": 10, "$lt": 15}}}).sort("_id", 1)]
seen["project"] = pupils.find_one({"_id": 4}, {"_id": 0, "marks": {"$slice": -1}, "name": 1})
seen["count"] = [pupils.count_documents({"form": 0}), pupils.estimated_document_count()]
seen["distinct"] = pupils.distinct("form")
seen["update"] = pupils.update_many({"form": 0}, {"$mul": {"_mul": 2}, "$addToSet": {"marks": 0}}).modified_count
seen["upsert"] = pupils.update_one({"_id": 77}, {"$set": {"name": "late"}}, upsert=True).upserted_id
seen["findAndModify"] = pupils.find_one_and_update(
    {"_id": 77}, {"$inc": {"visits": Int64(5)}}, return_document=ReturnDocument.AFTER
)
seen["delete"] = pupils.delete_one({"_id": 77}).deleted_count

db.typed.insert_one({"_id": uuid.UUID(int=7), "d": Decimal128("0.10"), "l": Int64(2 ** 53 + 1)})
typed = db.typed.find_one({"l": {"$gt": 2 ** 53}})
seen["types"] = [str(typed["_id"]), str(typed["d"]), str(typed["l"]), type(typed["l"]).__name__]

try:
    pupils.bulk_write([InsertOne({"_id": 1}), UpdateOne({"_id": 2}, {"$set": {"x": 1}})], ordered=False)
except BulkWriteError as error:
    seen["bulk"] = [error.details["nModified"], error.details["writeErrors"][0]["code"]]

pupils.create_index([("form", ASCENDING), ("name", DESCENDING)], name="formName")
pupils.create_index([("name", ASCENDING)], unique=True)
pupils.create_index([("name", HASHED)])
pupils.create_index("left", expireAfterSeconds=10, sparse=True)
seen["indexes"] = sorted(pupils.index_information())
seen["indexOptions"] = pupils.index_information()["left_1"]
try:
    pupils.insert_one({"_id": 99, "name": "p1"})
except DuplicateKeyError as error:
    seen["unique"] = [error.code, error.details["keyPattern"], error.details["keyValue"]]
pupils.drop_index("name_hashed")

plan = pupils.find({"form": 2}).sort("name", -1).explain()
winning = plan["queryPlanner"]["winningPlan"]
seen["explain"] = [winning["stage"], winning["inputStage"]["stage"], winning["inputStage"]["indexName"]]
seen["executionStats"] = [plan["executionStats"][k] for k in ("nReturned", "totalKeysExamined", "totalDocsExamined")]

seen["aggregate"] = list(
    pupils.aggregate(
        [
            {"$match": {"_id": {"$lt": 6}}},
            {"$group": {"_id": "$form", "ids": {"$push": "$_id"}, "best": {"$max": {"$arrayElemAt": ["$marks", 1]}}}},
            {"$sort": {"_id": 1}},
        ]
    )
)
seen["lookup"] = list(
    db.forms.aggregate(
        [
            {"$unionWith": "pupils"},
            {"$match": {"_id": {"$in": [1, 4]}}},
            {"$lookup": {"from": "pupils", "localField": "form", "foreignField": "form", "as": "same"}},
            {"$project": {"n": {"$size": "$same"}}},
            {"$sort": {"_id": 1}},
        ]
    )
)
seen["sample"] = len(list(pupils.aggregate([{"$sample": {"size": 4}}])))

db.create_collection("view", viewOn="pupils", pipeline=[{"$match": {"form": 1}}, {"$project": {"name": 1}}])
seen["view"] = [d["name"] for d in db["view"].find().sort("_id", 1)]
db.create_collection("strict", validator={"$jsonSchema": {"required": ["name"]}})
try:
    db.strict.insert_one({"x": 1})
except WriteError as error:
    seen["validator"] = error.code
db.command("collMod", "strict", validationLevel="off")
seen["collMod"] = db.strict.insert_one({"_id": 1}).inserted_id

seen["errors"] = [
    code(lambda: pupils.update_one({"_id": 1}, {"$inc": {"name": 1}})),
    code(lambda: list(pupils.find({"$where": "1"}))),
    code(lambda: list(pupils.aggregate([{"$nope": 1}]))),
    code(lambda: db.command("nope")),
    code(lambda: pupils.create_index([("where", "2dsphere")])),
]
seen["databases"] = "school" in client.list_database_names()
seen["collections"] = sorted(db.list_collection_names())
seen["batches"] = [p["_id"] for p in pupils.find({}, batch_size=3).sort("_id", 1)]
with client.start_session(causal_consistency=True) as session:
    seen["session"] = pupils.count_documents({}, session=session)
client.drop_database("school")
seen["dropped"] = "school" in client.list_database_names()
print(json_util.dumps(seen, json_options=json_util.RELAXED_JSON_OPTIONS))
client.close()
