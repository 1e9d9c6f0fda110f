/** The official Node driver on one server: what an application does, with the answers MongoDB gives. */
import type { Collection, Db, Document } from "mongodb";
import {
  Binary,
  Decimal128,
  Double,
  Int32,
  Long,
  MongoBulkWriteError,
  MongoClient,
  MongoServerError,
  ObjectId,
  Timestamp,
  UUID,
} from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "./servers.js";
import { servers } from "./servers.js";

interface Book {
  _id: number;
  title: string;
  year: number;
  tags: string[];
  copies?: { branch: string; n: number }[];
}

interface Shelf {
  _id: number;
  n?: number;
  list?: (number | string)[];
  kind?: string;
  made?: boolean;
  only?: number;
}

const BOOKS: readonly Book[] = [
  { _id: 1, title: "Ulysses", year: 1922, tags: ["novel", "irish"], copies: [{ branch: "north", n: 2 }] },
  { _id: 2, title: "Emma", year: 1815, tags: ["novel"], copies: [{ branch: "south", n: 1 }] },
  { _id: 3, title: "Walden", year: 1854, tags: ["essay"] },
  { _id: 4, title: "Middlemarch", year: 1871, tags: ["novel"], copies: [] },
  { _id: 5, title: "Dubliners", year: 1914, tags: ["stories", "irish"], copies: [{ branch: "north", n: 5 }] },
];

/** The server's error of a promise. */
async function refusal(work: Promise<unknown>): Promise<MongoServerError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof MongoServerError) return error;
  throw new Error(`no server error: ${String(error)}`);
}

describe.each(Object.keys(servers))("the Node driver on %s", (name) => {
  let server: RunningServer;
  let client: MongoClient;
  let db: Db;
  let books: Collection<Book>;
  beforeAll(async () => {
    server = await servers[name]!();
    client = await new MongoClient(server.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
    db = client.db("library");
    books = db.collection("books");
    await books.insertMany([...BOOKS]);
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  const ids = (documents: { _id: number }[]): number[] => documents.map(({ _id }) => _id);

  it("finds, projects, sorts and counts", async () => {
    expect(ids(await books.find({ tags: "novel" }).sort({ year: 1 }).toArray())).toEqual([2, 4, 1]);
    expect(
      ids(
        await books
          .find({ "copies.n": { $gt: 1 } })
          .sort({ _id: 1 })
          .toArray(),
      ),
    ).toEqual([1, 5]);
    expect(ids(await books.find({ copies: { $exists: false } }).toArray())).toEqual([3]);
    expect(ids(await books.find({ title: /^[EW]/ }).sort({ title: -1 }).toArray())).toEqual([3, 2]);
    expect(ids(await books.find().sort({ year: -1 }).skip(1).limit(2).toArray())).toEqual([5, 4]);
    expect(await books.findOne({ _id: 1 }, { projection: { _id: 0, title: 1, "copies.n": 1 } })).toEqual({
      title: "Ulysses",
      copies: [{ n: 2 }],
    });
    expect(await books.findOne({ tags: "irish" }, { projection: { "tags.$": 1 } })).toEqual({
      _id: 1,
      tags: ["irish"],
    });
    expect(await books.countDocuments({ year: { $lt: 1900 } })).toBe(3);
    expect(await books.estimatedDocumentCount()).toBe(5);
    expect(await books.distinct("tags")).toEqual(["novel", "irish", "essay", "stories"]);
    expect(await books.distinct("tags", { year: { $gt: 1900 } })).toEqual(["novel", "irish", "stories"]);
  });

  it("reads in batches, by for await, and closes what it doesn't read", async () => {
    const seen: number[] = [];
    for await (const { _id } of books.find({}, { batchSize: 2 }).sort({ _id: 1 })) seen.push(_id);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    const cursor = books.find({}, { batchSize: 1 });
    await cursor.next();
    await cursor.close();
  });

  it("updates, upserts, replaces and deletes", async () => {
    const shelf = db.collection<Shelf>("shelf");
    await shelf.insertMany([
      { _id: 1, n: 1, list: [1, 2, 3] },
      { _id: 2, n: 2, list: [4] },
    ]);
    expect(
      await shelf.updateOne(
        { _id: 1 },
        { $inc: { n: 10 }, $push: { list: { $each: [9, 0], $sort: 1, $slice: 4 } } },
      ),
    ).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });
    expect(await shelf.findOne({ _id: 1 })).toEqual({ _id: 1, n: 11, list: [0, 1, 2, 3] });
    expect(
      await shelf.updateMany({}, { $set: { "list.$[big]": 7 } }, { arrayFilters: [{ big: { $gte: 3 } }] }),
    ).toMatchObject({
      matchedCount: 2,
      modifiedCount: 2,
    });
    expect(await shelf.updateOne({ list: 2 }, { $set: { "list.$": "two" } })).toMatchObject({
      modifiedCount: 1,
    });
    expect((await shelf.findOne({ _id: 1 }))?.list).toEqual([0, 1, "two", 7]);
    expect(
      await shelf.updateOne(
        { _id: 3, kind: "new" },
        { $setOnInsert: { made: true }, $set: { n: 3 } },
        { upsert: true },
      ),
    ).toMatchObject({ matchedCount: 0, upsertedId: 3, upsertedCount: 1 });
    expect(await shelf.findOne({ _id: 3 })).toEqual({ _id: 3, kind: "new", made: true, n: 3 });
    expect(await shelf.updateOne({ _id: 3 }, [{ $set: { n: { $multiply: ["$n", 7] } } }])).toMatchObject({
      modifiedCount: 1,
    });
    expect(await shelf.replaceOne({ _id: 2 }, { only: 1 })).toMatchObject({ modifiedCount: 1 });
    expect(await shelf.findOne({ _id: 2 })).toEqual({ _id: 2, only: 1 });
    expect(
      await shelf.findOneAndUpdate({ _id: 3 }, { $inc: { n: 1 } }, { returnDocument: "after" }),
    ).toMatchObject({ n: 22 });
    expect(await shelf.findOneAndReplace({ _id: 3 }, { n: 0 })).toMatchObject({ n: 22 });
    expect(await shelf.findOneAndDelete({ _id: 3 })).toEqual({ _id: 3, n: 0 });
    expect(await shelf.deleteMany({})).toMatchObject({ deletedCount: 2 });
  });

  it("writes in bulk, of one collection and of several", async () => {
    const bulk = db.collection<{ _id: number; n?: number }>("bulk");
    const error = await bulk
      .bulkWrite(
        [
          { insertOne: { document: { _id: 1 } } },
          { insertOne: { document: { _id: 1 } } },
          { updateOne: { filter: { _id: 1 }, update: { $set: { n: 5 } } } },
        ],
        { ordered: false },
      )
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MongoBulkWriteError);
    expect(error).toMatchObject({ code: 11000, result: { insertedCount: 1, modifiedCount: 1 } });
    interface Numbered {
      _id: number;
      n?: number;
    }
    const result = await client.bulkWrite<Record<string, Numbered>>([
      { namespace: "library.bulk", name: "insertOne", document: { _id: 2 } },
      { namespace: "library.other", name: "insertOne", document: { _id: 3 } },
      { namespace: "library.bulk", name: "updateMany", filter: {}, update: { $inc: { n: 1 } } },
      { namespace: "library.other", name: "deleteOne", filter: { _id: 3 } },
    ]);
    expect(result).toMatchObject({ insertedCount: 2, modifiedCount: 2, deletedCount: 1 });
    expect(await bulk.find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 1, n: 6 },
      { _id: 2, n: 1 },
    ]);
  });

  it("is told errors with MongoDB's codes", async () => {
    expect(await refusal(books.insertOne({ ...BOOKS[0]! }))).toMatchObject({
      code: 11000,
      keyPattern: { _id: 1 },
      keyValue: { _id: 1 },
    });
    expect((await refusal(books.updateOne({ _id: 1 }, { $inc: { title: 1 } } as object))).code).toBe(14);
    expect((await refusal(books.updateOne({ _id: 1 }, { $set: { _id: 9 } }))).code).toBe(66);
    expect((await refusal(books.find({ $nope: 1 }).toArray())).code).toBe(2);
    expect((await refusal(books.aggregate([{ $nope: 1 }]).toArray())).code).toBe(40324);
    expect((await refusal(books.aggregate([{ $project: { a: { $nope: 1 } } }]).toArray())).code).toBe(31325);
    expect((await refusal(db.command({ nope: 1 }))).code).toBe(59);
  });

  it("keeps the types it was given", async () => {
    const types = db.collection("types");
    const document = {
      _id: new ObjectId("64b0c0ffee0000000000beef"),
      long: Long.fromString("9007199254740993"),
      decimal: Decimal128.fromString("1.10"),
      double: new Double(2),
      int: new Int32(2),
      date: new Date(Date.UTC(2024, 1, 29)),
      uuid: new UUID("123e4567-e89b-42d3-a456-426614174000"),
      binary: new Binary(new Uint8Array([1, 2, 3])),
      timestamp: new Timestamp({ t: 5, i: 1 }),
      regex: /^a/i,
      nothing: null,
      nested: { deep: [{ er: [true] }] },
    };
    await types.insertOne(document);
    const stored = await types.findOne({}, { promoteValues: false, promoteLongs: false });
    expect(JSON.stringify(stored)).toBe(JSON.stringify(document));
    expect(
      await types.countDocuments({ long: Long.fromString("9007199254740993"), double: 2, decimal: 1.1 }),
    ).toBe(0); // 1.1 is no 1.10
    expect(
      await types.countDocuments({
        long: { $type: "long" },
        decimal: { $type: "decimal" },
        int: { $type: "int" },
      }),
    ).toBe(1);
  });

  it("makes indexes of every kind that is simulated, and sees them used", async () => {
    await books.createIndex({ year: 1 });
    await books.createIndex({ tags: 1, year: -1 }, { name: "byTag" });
    await books.createIndex({ title: 1 }, { unique: true, partialFilterExpression: { year: { $gt: 1800 } } });
    await books.createIndex({ due: 1 }, { expireAfterSeconds: 3600, sparse: true });
    await books.createIndex({ title: "hashed" });
    expect((await books.indexes()).map(({ name: index }) => index).sort()).toEqual([
      "_id_",
      "byTag",
      "due_1",
      "title_1",
      "title_hashed",
      "year_1",
    ]);
    expect(await refusal(books.insertOne({ _id: 9, title: "Emma", year: 2000, tags: [] }))).toMatchObject({
      code: 11000,
      keyPattern: { title: 1 },
    });
    const plan = async (filter: object, sort?: Record<string, 1 | -1>): Promise<unknown> => {
      const cursor = books.find(filter);
      if (sort) cursor.sort(sort);
      const { queryPlanner } = (await cursor.explain("queryPlanner")) as {
        queryPlanner: { winningPlan: unknown };
      };
      return queryPlanner.winningPlan;
    };
    expect(await plan({ year: { $gte: 1900 } })).toMatchObject({
      stage: "FETCH",
      inputStage: { stage: "IXSCAN", indexName: "year_1", indexBounds: { year: ["[1900, inf.0]"] } },
    });
    expect(await plan({ tags: "novel" }, { year: -1 })).toMatchObject({
      stage: "FETCH",
      inputStage: { stage: "IXSCAN", indexName: "byTag", isMultiKey: true, direction: "forward" },
    });
    expect(await plan({ copies: 1 })).toMatchObject({ stage: "COLLSCAN", direction: "forward" });
    const { executionStats } = (await books.find({ year: { $gte: 1900 } }).explain("executionStats")) as {
      executionStats: object;
    };
    expect(executionStats).toMatchObject({ nReturned: 2, totalKeysExamined: 2, totalDocsExamined: 2 });
    await books.dropIndex("title_hashed");
    expect(await books.indexExists("title_hashed")).toBe(false);
    expect((await refusal(books.createIndex({ where: "2dsphere" }))).code).toBe(238);
    expect((await refusal(books.createIndex({ year: 1 }, { name: "another" }))).code).toBe(85);
  });

  it("aggregates", async () => {
    const perTag = await books
      .aggregate([
        { $unwind: "$tags" },
        { $group: { _id: "$tags", n: { $sum: 1 }, first: { $min: "$year" }, titles: { $push: "$title" } } },
        { $sort: { n: -1, _id: 1 } },
        { $limit: 2 },
      ])
      .toArray();
    expect(perTag).toEqual([
      { _id: "novel", n: 3, first: 1815, titles: ["Ulysses", "Emma", "Middlemarch"] },
      { _id: "irish", n: 2, first: 1914, titles: ["Ulysses", "Dubliners"] },
    ]);
    await db.collection<{ _id: string; city: string }>("branches").insertMany([
      { _id: "north", city: "Oslo" },
      { _id: "south", city: "Rome" },
    ]);
    const joined = await books
      .aggregate([
        { $match: { _id: { $in: [1, 2] } } },
        { $lookup: { from: "branches", localField: "copies.branch", foreignField: "_id", as: "branches" } },
        { $project: { _id: 1, city: { $first: "$branches.city" } } },
        { $sort: { _id: 1 } },
      ])
      .toArray();
    expect(joined).toEqual([
      { _id: 1, city: "Oslo" },
      { _id: 2, city: "Rome" },
    ]);
    await books.aggregate([{ $match: { tags: "irish" } }, { $out: "irish" }]).toArray();
    expect(await db.collection("irish").countDocuments()).toBe(2);
    const [facets] = await books
      .aggregate([
        { $facet: { old: [{ $match: { year: { $lt: 1900 } } }, { $count: "n" }], all: [{ $count: "n" }] } },
      ])
      .toArray();
    expect(facets).toEqual({ old: [{ n: 3 }], all: [{ n: 5 }] });
    const explained = (await books
      .aggregate([{ $match: { year: { $gt: 1900 } } }])
      .explain("queryPlanner")) as {
      queryPlanner?: object;
    };
    expect(explained.queryPlanner).toMatchObject({ namespace: "library.books" });
  });

  it("has views, validators and capped collections", async () => {
    await db.createCollection("novels", { viewOn: "books", pipeline: [{ $match: { tags: "novel" } }] });
    expect(await db.collection("novels").countDocuments({ year: { $lt: 1900 } })).toBe(2);
    expect(await refusal(db.collection("novels").insertOne({ title: "x" }))).toMatchObject({ code: 166 });
    await db.createCollection("members", {
      validator: {
        $jsonSchema: { required: ["name"], properties: { age: { bsonType: "int", minimum: 0 } } },
      },
    });
    const members = db.collection("members");
    await members.insertOne({ name: "Ada", age: 36 });
    const invalid = await refusal(members.insertOne({ age: -1 }));
    expect(invalid.code).toBe(121);
    expect(invalid.errInfo).toMatchObject({ details: { operatorName: "$jsonSchema" } });
    await members.insertOne({ age: -1 }, { bypassDocumentValidation: true });
    const log = await db.createCollection("log", { capped: true, size: 4096, max: 3 });
    for (let n = 1; n <= 5; n++) await log.insertOne({ n });
    expect((await log.find().toArray()).map((entry) => entry["n"] as number)).toEqual([3, 4, 5]);
    expect(await log.isCapped()).toBe(true);
    const listed = await db.listCollections({ type: "view" }, { nameOnly: true }).toArray();
    expect(listed.map((view) => view.name)).toEqual(["novels"]);
  });

  it("sorts by a collation where one is asked for", async () => {
    const words = db.collection<{ _id: number; w: string }>("words");
    await words.insertMany(["b", "A", "a", "C"].map((w, _id) => ({ _id, w })));
    expect((await words.find().sort({ w: 1 }).toArray()).map(({ w }) => w)).toEqual(["A", "C", "a", "b"]);
    const sorted = await words
      .find({}, { collation: { locale: "en", strength: 1 } })
      .sort({ w: 1, _id: 1 })
      .toArray();
    expect(sorted.map(({ w }) => w)).toEqual(["A", "a", "b", "C"]);
    expect(await words.countDocuments({ w: "A" }, { collation: { locale: "en", strength: 2 } })).toBe(2);
  });

  it("runs a write that is sent twice only once", async () => {
    // A session of the driver's pool, with a number that it will not reach by itself.
    const session = client.startSession();
    const write = {
      update: "books",
      updates: [{ q: { _id: 3 }, u: { $inc: { read: 1 } } }],
      txnNumber: Long.fromNumber(1_000_000),
    };
    const send = (): Promise<Document> => db.command(write, { session });
    expect([await send(), await send()].map((reply) => reply["nModified"] as number)).toEqual([1, 1]);
    expect(await books.findOne({ _id: 3 })).toMatchObject({ read: 1 });
    await session.endSession();
  });

  it("is refused transactions, with nothing written", async () => {
    const session = client.startSession();
    session.startTransaction();
    const { code } = await refusal(db.collection("never").insertOne({ a: 1 }, { session }));
    expect(code).toBe(238);
    await session.abortTransaction().catch(() => undefined);
    await session.endSession();
    expect(await db.collection("never").countDocuments()).toBe(0);
  });

  it("administers: databases, statistics, renaming, dropping", async () => {
    const { databases } = await client.db().admin().listDatabases();
    expect(databases.map((database) => database.name)).toContain("library");
    expect(await db.stats()).toMatchObject({ db: "library", ok: 1 });
    await db.collection("irish").rename("ireland");
    expect(await db.collection("ireland").countDocuments()).toBe(2);
    expect(await db.dropCollection("ireland")).toBe(true);
    expect(await client.db().admin().serverStatus()).toMatchObject({ process: "mongod", ok: 1 });
    expect(await db.dropDatabase()).toBe(true);
    expect(await books.countDocuments()).toBe(0);
  });
});
