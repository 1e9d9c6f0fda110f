import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function library(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("books", { _id: 1, title: "Dune" }, { _id: 2, title: "Emma" }, { _id: 3, title: "Ulysses" });
  await t.insert(
    "loans",
    { _id: 1, book: 1, days: 3 },
    { _id: 2, book: 2, days: 10 },
    { _id: 3, book: 1, days: 20 },
    { _id: 4, book: [2, 3], days: 1 },
    { _id: 5 },
  );
  return t;
}

const LOANS = { from: "loans", localField: "_id", foreignField: "book", as: "loans" };

describe("$lookup", () => {
  for (const indexed of [false, true]) {
    it(`finds equal values ${indexed ? "by an index" : "by a hash table"}, also inside arrays`, async () => {
      const t = await library();
      if (indexed) await t.createIndex("loans", { book: 1 });
      const rows = await t.aggregate("books", [
        { $lookup: LOANS },
        { $project: { ids: { $map: { input: "$loans", in: "$$this._id" } } } },
      ]);
      expect(rows).toEqual([
        { _id: 1, ids: [1, 3] },
        { _id: 2, ids: [2, 4] },
        { _id: 3, ids: [4] },
      ]);
      const used = await t.aggregate("loans", [
        { $indexStats: {} },
        { $match: { name: "book_1" } },
        { $project: { _id: 0, ops: "$accesses.ops" } },
      ]);
      expect(used).toEqual(indexed ? [{ ops: 3 }] : []);
    });
  }

  it("runs its pipeline with the variables of the document, at any depth", async () => {
    const t = await library();
    const rows = await t.aggregate("books", [
      {
        $lookup: {
          from: "loans",
          let: { id: "$_id", title: "$title" },
          pipeline: [
            { $match: { $expr: { $eq: ["$book", "$$id"] } } },
            {
              $lookup: {
                from: "books",
                let: { days: "$days" },
                pipeline: [
                  { $match: { title: "Emma" } },
                  { $project: { _id: 0, d: "$$days", of: "$$title" } },
                ],
                as: "inner",
              },
            },
            { $project: { _id: 0, inner: 1 } },
          ],
          as: "r",
        },
      },
      { $match: { _id: { $lte: 2 } } },
      { $project: { r: 1 } },
    ]);
    expect(rows).toEqual([
      { _id: 1, r: [{ inner: [{ d: 3, of: "Dune" }] }, { inner: [{ d: 20, of: "Dune" }] }] },
      { _id: 2, r: [{ inner: [{ d: 10, of: "Emma" }] }] },
    ]);
  });

  it("compares with the collation of the command", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1, s: "x" });
    await t.insert("b", { _id: 1, s: "X" }, { _id: 2, s: "y" });
    const pipeline = [
      { $lookup: { from: "b", localField: "s", foreignField: "s", as: "r" } },
      { $project: { n: { $size: "$r" } } },
    ];
    expect(await t.aggregate("a", pipeline)).toEqual([{ _id: 1, n: 0 }]);
    for (const indexed of [false, true]) {
      if (indexed) await t.createIndex("b", { s: 1 }, { collation: { locale: "en", strength: 2 } });
      expect(
        await t.all({ aggregate: "a", pipeline, cursor: {}, collation: { locale: "en", strength: 2 } }),
      ).toEqual([{ _id: 1, n: 1 }]);
    }
  });

  it("reads 3,000 documents against 3,000 without an index, for each form", async () => {
    const t = new TestMongod();
    const many = Array.from({ length: 3000 }, (_, i) => ({ _id: i, k: (i * 7) % 3000 }));
    await t.insert("a", ...many);
    await t.insert("b", ...many);
    const forms = [
      { from: "b", localField: "k", foreignField: "k", as: "r" },
      { from: "b", let: { k: "$k" }, pipeline: [{ $match: { $expr: { $eq: ["$k", "$$k"] } } }], as: "r" },
      { from: "b", localField: "k", foreignField: "k", pipeline: [{ $project: { k: 1 } }], as: "r" },
    ];
    for (const form of forms) {
      const [row] = await t.aggregate("a", [
        { $lookup: form },
        {
          $group: {
            _id: { $size: "$r" },
            same: { $sum: { $cond: [{ $eq: ["$k", { $first: "$r.k" }] }, 1, 0] } },
          },
        },
      ]);
      // A nested scan would look at 9,000,000 documents, which takes minutes.
      expect(row).toEqual({ _id: 1, same: 3000 });
    }
  });
});

describe("$lookup inside $lookup", () => {
  it("keeps what it has built while the outer pipeline runs for one document after the other", async () => {
    const t = new TestMongod();
    const many = Array.from({ length: 1500 }, (_, i) => ({ _id: i }));
    await t.insert("a", ...many);
    await t.insert("b", { _id: 0 }, { _id: 1 });
    await t.insert("c", ...many);
    const inner = { $lookup: { from: "c", localField: "_id", foreignField: "_id", as: "z" } };
    // The outer pipeline can be joined by nothing, so it runs 1,500 times; c is read once all the same.
    const outer = {
      from: "b",
      let: { id: "$_id" },
      pipeline: [{ $match: { $expr: { $lte: ["$_id", "$$id"] } } }, inner],
      as: "r",
    };
    const [row] = await t.aggregate("a", [
      { $lookup: outer },
      { $unwind: "$r" },
      { $group: { _id: null, n: { $sum: 1 }, found: { $sum: { $size: "$r.z" } } } },
    ]);
    expect(row).toEqual({ _id: null, n: 2999, found: 2999 });
    const explained = await t.explain({ aggregate: "a", pipeline: [{ $lookup: outer }], cursor: {} });
    expect(explained["stages"][1]).toMatchObject({ collectionScans: 1500, indexesUsed: [] });
  });
});

describe("$graphLookup", () => {
  it("ends in circles, and takes every document once", async () => {
    const t = new TestMongod();
    await t.insert(
      "nodes",
      { _id: "a", to: ["b", "c"] },
      { _id: "b", to: ["a", "d"] },
      { _id: "c", to: ["d"] },
      { _id: "d", to: ["a"] },
      { _id: "e" },
    );
    for (const indexed of [false, true]) {
      if (indexed) await t.createIndex("nodes", { to: 1 });
      const rows = await t.aggregate("nodes", [
        {
          $graphLookup: {
            from: "nodes",
            startWith: "$to",
            connectFromField: "to",
            connectToField: "_id",
            as: "reached",
            depthField: "steps",
          },
        },
        { $match: { _id: { $in: ["c", "e"] } } },
        { $unwind: { path: "$reached", preserveNullAndEmptyArrays: true } },
        { $project: { id: "$reached._id", steps: "$reached.steps" } },
        { $sort: { steps: 1, id: 1 } },
      ]);
      expect(rows).toEqual([
        { _id: "e" },
        { _id: "c", id: "d", steps: 0 },
        { _id: "c", id: "a", steps: 1 },
        { _id: "c", id: "b", steps: 2 },
        { _id: "c", id: "c", steps: 2 },
      ]);
    }
  });

  it("goes down a chain of 5,000 without a deep stack", async () => {
    const t = new TestMongod();
    await t.insert("chain", ...Array.from({ length: 5000 }, (_, i) => ({ _id: i, next: i + 1 })));
    const [row] = await t.aggregate("chain", [
      { $match: { _id: 0 } },
      {
        $graphLookup: {
          from: "chain",
          startWith: "$next",
          connectFromField: "next",
          connectToField: "_id",
          as: "r",
        },
      },
      { $project: { n: { $size: "$r" } } },
    ]);
    expect(row).toEqual({ _id: 0, n: 4999 });
  });
});

describe("sources", () => {
  it("$collStats: sizes, count and latencies", async () => {
    const t = await library();
    const [row] = await t.aggregate("loans", [
      { $collStats: { count: {}, storageStats: {}, latencyStats: {} } },
    ]);
    expect(row).toMatchObject({
      ns: "library.loans",
      count: 5,
      storageStats: { count: 5, capped: false, nindexes: 1 },
      latencyStats: { writes: { ops: 1 } },
    });
    const missing = { aggregate: "none", pipeline: [{ $collStats: { count: {} } }], cursor: {} };
    expect(await t.reply(missing)).toMatchObject({ code: 26 });
    expect(await t.reply({ ...missing, pipeline: [{ $collStats: 1 }] })).toMatchObject({ code: 5447000 });
  });

  it("$documents, $currentOp and $listLocalSessions stand over no collection", async () => {
    const t = new TestMongod();
    const run = async (pipeline: object[], db = "admin", more: object = {}) =>
      t.run({ aggregate: 1, pipeline, cursor: {}, ...more }, db);
    expect((await run([{ $documents: [{ x: 1 }, { x: 2 }] }, { $count: "n" }], "library"))["cursor"]).toEqual(
      {
        firstBatch: [{ n: 2 }],
        id: 0,
        ns: "library.$cmd.aggregate",
      },
    );
    const operations = await run([{ $currentOp: { allUsers: true } }, { $match: { op: "command" } }]);
    expect(operations["cursor"].firstBatch).toHaveLength(1);
    expect(operations["cursor"].firstBatch[0]).toMatchObject({
      ns: "admin.$cmd.aggregate",
      command: { aggregate: 1 },
    });
    expect(await t.reply({ aggregate: 1, pipeline: [{ $currentOp: {} }], cursor: {} })).toMatchObject({
      code: 73,
      errmsg: "$currentOp must be run against the 'admin' database with {aggregate: 1}",
    });
    const { id } = (await t.run({ startSession: 1 }, "admin"))["id"];
    await t.run({ ping: 1, lsid: { id } }, "admin");
    const sessions = await run([{ $listLocalSessions: { allUsers: true } }], "admin", { lsid: { id } });
    expect(sessions["cursor"].firstBatch).toMatchObject([
      { _id: { id }, lastUse: new Date(t.environment.time) },
    ]);
    await t.run({ endSessions: [{ id }] }, "admin");
    expect((await run([{ $listLocalSessions: {} }]))["cursor"].firstBatch).toEqual([]);
  });

  it("a cursor over no collection is read on by its name", async () => {
    const t = new TestMongod();
    const pipeline = [{ $documents: { $map: { input: { $range: [0, 5] }, in: { n: "$$this" } } } }];
    const { cursor } = await t.run({ aggregate: 1, pipeline, cursor: { batchSize: 2 } });
    expect(cursor.firstBatch).toEqual([{ n: 0 }, { n: 1 }]);
    const more = await t.run({ getMore: BigInt(cursor.id), collection: "$cmd.aggregate" });
    expect(more["cursor"].nextBatch).toEqual([{ n: 2 }, { n: 3 }, { n: 4 }]);
  });

  it("$indexStats, $planCacheStats, $listCatalog", async () => {
    const t = await library();
    await t.createIndex("loans", { book: 1 });
    await t.find("loans", { book: 1 });
    const stats = await t.aggregate("loans", [{ $indexStats: {} }]);
    expect(stats.map(({ name, accesses }) => [name, accesses.ops])).toEqual([
      ["_id_", 0],
      ["book_1", 1],
    ]);
    expect(await t.aggregate("loans", [{ $planCacheStats: {} }])).toEqual([]);
    const [entry] = await t.aggregate("loans", [{ $listCatalog: {} }]);
    expect(entry).toMatchObject({ db: "library", name: "loans", type: "collection", ns: "library.loans" });
  });
});
