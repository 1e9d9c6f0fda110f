import { UUID } from "bson";
import { describe, expect, it } from "vitest";
import { RecordStore } from "../../lib/mongod/storage/recordStore.js";
import { BatchStream, CursorRegistry } from "../../lib/mongod/cursors.js";
import { ListSource } from "../../lib/mongod/planner/planSource.js";
import { TestEnvironment, TestMongod } from "./support.js";

async function numbers(count: number, extra: (i: number) => object = () => ({})): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("n", ...Array.from({ length: count }, (_, i) => ({ _id: i, ...extra(i) })));
  return t;
}

describe("a cursor", () => {
  it("begins with 101 documents and goes on with getMore to the end", async () => {
    const t = await numbers(250);
    const { cursor } = await t.run({ find: "n" });
    expect(cursor.firstBatch).toHaveLength(101);
    expect(cursor.ns).toBe("library.n");
    const second = await t.run({ getMore: BigInt(cursor.id), collection: "n", batchSize: 100 });
    expect(second["cursor"].nextBatch.map(({ _id }: { _id: number }) => _id)).toEqual(
      Array.from({ length: 100 }, (_, i) => 101 + i),
    );
    const third = await t.run({ getMore: BigInt(cursor.id), collection: "n" });
    expect(third["cursor"].nextBatch).toHaveLength(49);
    expect(Number(third["cursor"].id)).toBe(0);
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "n" })).toMatchObject({
      code: 43,
      errmsg: `cursor id ${cursor.id} not found`,
    });
  });

  it("examines no more than its batch needs", async () => {
    const t = await numbers(100_000);
    let reads = 0;
    const get = RecordStore.prototype.get;
    RecordStore.prototype.get = function (id) {
      reads++;
      return get.call(this, id);
    };
    try {
      await t.run({ find: "n", batchSize: 10 });
    } finally {
      RecordStore.prototype.get = get;
    }
    expect(reads).toBe(10);
  });

  it("is open but empty with batchSize 0, and closed with singleBatch or at the limit", async () => {
    const t = await numbers(20);
    const { cursor } = await t.run({ find: "n", batchSize: 0 });
    expect(cursor.firstBatch).toEqual([]);
    expect(Number(cursor.id)).not.toBe(0);
    for (const options of [{ batchSize: 5, singleBatch: true }, { limit: 5 }, { limit: 5, batchSize: 5 }]) {
      const reply = await t.run({ find: "n", ...options });
      expect(reply["cursor"].firstBatch).toHaveLength(5);
      expect(Number(reply["cursor"].id)).toBe(0);
    }
  });

  it("holds a batch to 16 MiB", async () => {
    const t = await numbers(20, () => ({ text: "x".repeat(1024 * 1024) }));
    const { cursor } = await t.run({ find: "n" });
    expect(cursor.firstBatch).toHaveLength(15);
    const more = await t.run({ getMore: BigInt(cursor.id), collection: "n" });
    expect(more["cursor"].nextBatch.map(({ _id }: { _id: number }) => _id)).toEqual([15, 16, 17, 18, 19]);
  });

  it("refuses a result over 16 MiB, which no client could read", async () => {
    const t = new TestMongod();
    const tenMegabytes = (letter: string): string => letter.repeat(10_000_000);
    await t.insert("n", { _id: 1, s: tenMegabytes("a") }, { _id: 2, s: tenMegabytes("b") });
    const both = { $group: { _id: null, s: { $push: "$s" } } };
    expect(await t.reply({ aggregate: "n", pipeline: [both], cursor: {} })).toMatchObject({
      code: 10334,
      codeName: "BSONObjectTooLarge",
    });
    expect(await t.aggregate("n", [both, { $project: { n: { $size: "$s" } } }])).toEqual([
      { _id: null, n: 2 },
    ]);
    const doubled = { find: "n", filter: { _id: 1 }, projection: { a: "$s", b: "$s" } };
    expect(await t.reply(doubled)).toMatchObject({ code: 10334 });
    expect(await t.reply({ ...doubled, batchSize: 0 })).toMatchObject({ ok: 1 });
    expect(await t.reply({ distinct: "n", key: "s" })).toMatchObject({
      code: 17217,
      errmsg: "Executor error during distinct command: library.n :: caused by :: distinct too big, 16mb cap",
    });
  });

  it("belongs to its namespace", async () => {
    const t = await numbers(200);
    const { cursor } = await t.run({ find: "n" });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "other" })).toMatchObject({ code: 13 });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "n" })).toMatchObject({ ok: 1 });
  });

  it("can be killed", async () => {
    const t = await numbers(200);
    const { cursor } = await t.run({ find: "n" });
    const reply = await t.run({ killCursors: "n", cursors: [BigInt(cursor.id), 5n] });
    expect(String(reply["cursorsKilled"])).toBe(String(cursor.id));
    expect(reply["cursorsNotFound"]).toEqual([5]);
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "n" })).toMatchObject({ code: 43 });
  });

  it("ends after ten minutes without use, unless asked to stay", async () => {
    const t = await numbers(500);
    const { cursor: idle } = await t.run({ find: "n" });
    const { cursor: used } = await t.run({ find: "n" });
    const { cursor: kept } = await t.run({ find: "n", noCursorTimeout: true });
    t.environment.time += 9 * 60_000;
    await t.run({ getMore: BigInt(used.id), collection: "n", batchSize: 1 });
    t.environment.time += 2 * 60_000;
    expect(await t.reply({ getMore: BigInt(idle.id), collection: "n" })).toMatchObject({ code: 43 });
    expect(await t.reply({ getMore: BigInt(used.id), collection: "n" })).toMatchObject({ ok: 1 });
    expect(await t.reply({ getMore: BigInt(kept.id), collection: "n" })).toMatchObject({ ok: 1 });
  });

  it("is read in the session that opened it, and ends with it", async () => {
    const t = await numbers(200);
    const [one, two] = [1, 2].map((n) => ({ id: new UUID(new Uint8Array(16).fill(n)) }));
    const getMore = async (id: unknown, lsid?: object): Promise<object> =>
      t.reply({ getMore: BigInt(String(id)), collection: "n", batchSize: 1, ...(lsid && { lsid }) });
    const { cursor: mine } = await t.run({ find: "n", lsid: one });
    const { cursor: free } = await t.run({ find: "n" });
    expect(await getMore(mine.id, one)).toMatchObject({ ok: 1 });
    expect(await getMore(mine.id)).toMatchObject({ code: 50737 });
    expect(await getMore(mine.id, two)).toMatchObject({ code: 50738 });
    expect(await getMore(free.id, two)).toMatchObject({ code: 50736 });
    expect(await getMore(free.id)).toMatchObject({ ok: 1 });
    await t.run({ killSessions: [one] });
    expect(await getMore(mine.id, one)).toMatchObject({ code: 43 });
    const piped = await t.run({ aggregate: "n", pipeline: [], cursor: {}, lsid: one });
    expect(await getMore(piped["cursor"].id, one)).toMatchObject({ ok: 1 });
  });

  it("lives on the maxTimeMS of its find; getMore takes none of its own", async () => {
    const t = await numbers(5000);
    const { cursor } = await t.run({ find: "n", filter: { x: null }, batchSize: 1, maxTimeMS: 100 });
    const more = { getMore: BigInt(cursor.id), collection: "n", batchSize: 1 };
    expect(await t.reply({ ...more, maxTimeMS: 5 })).toMatchObject({ code: 2 });
    // Rest does not count: only work does.
    t.environment.time += 1000;
    expect(await t.reply(more)).toMatchObject({ ok: 1 });
    // Every look at the clock takes 60 milliseconds.
    Object.defineProperty(t.environment, "now", { value: () => (t.environment.time += 60) });
    expect(await t.reply({ ...more, batchSize: 5000 })).toMatchObject({
      code: 50,
      errmsg: "Executor error during getMore :: caused by :: operation exceeded time limit",
    });
    expect(await t.reply(more)).toMatchObject({ code: 43 });
  });

  it("shows among the idle cursors of $currentOp", async () => {
    const t = await numbers(200);
    const { cursor } = await t.run({ find: "n", batchSize: 3 });
    await t.run({ getMore: BigInt(cursor.id), collection: "n", batchSize: 4 });
    const { cursor: ops } = await t.run(
      {
        aggregate: 1,
        pipeline: [{ $currentOp: { idleCursors: true } }, { $match: { type: "idleCursor" } }],
        cursor: {},
      },
      "admin",
    );
    expect(ops.firstBatch).toMatchObject([
      {
        ns: "library.n",
        cursor: {
          nDocsReturned: 7,
          nBatchesReturned: 2,
          tailable: false,
          originatingCommand: { find: "n", batchSize: 3 },
        },
      },
    ]);
  });

  it("loses its place when a capped collection lets go of it", async () => {
    const t = new TestMongod();
    await t.run({ create: "log", capped: true, size: 4096, max: 3 });
    await t.insert("log", { _id: 1 }, { _id: 2 });
    const { cursor } = await t.run({ find: "log", tailable: true, batchSize: 1 });
    await t.insert("log", { _id: 3 }, { _id: 4 });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "log" })).toMatchObject({
      code: 136,
      codeName: "CappedPositionLost",
    });
  });

  it("makes room for a new one when there are too many: the longest idle goes, one that asked to stay last", () => {
    const environment = new TestEnvironment();
    const cursors = new CursorRegistry(environment, () => 600_000, 3);
    const open = (noTimeout = false): bigint => {
      environment.time++;
      return cursors.open("library.n", new BatchStream(new ListSource([])), { noTimeout }).id;
    };
    const kept = open(true);
    const [first, second] = [open(), open()];
    environment.time++;
    cursors.get(first, "library.n");
    const third = open();
    expect(cursors.all().map(({ id }) => id)).toEqual([kept, first, third]);
    expect(() => cursors.get(second, "library.n")).toThrow("not found");
  });

  it("tells once that its collection was dropped", async () => {
    const t = await numbers(200);
    const { cursor } = await t.run({ find: "n" });
    await t.run({ drop: "n" });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "n" })).toMatchObject({ code: 175 });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "n" })).toMatchObject({ code: 43 });
  });

  it("tells that its index was dropped", async () => {
    const t = await numbers(200, (i) => ({ x: i }));
    await t.createIndex("n", { x: 1 });
    const { cursor } = await t.run({ find: "n", hint: { x: 1 } });
    await t.run({ dropIndexes: "n", index: "x_1" });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "n" })).toMatchObject({
      code: 175,
      errmsg: "index 'x_1' dropped",
    });
  });

  it.each([
    ["a collection scan", undefined],
    ["an index scan", { x: 1 }],
    ["a backward index scan", { x: 1 }],
  ])("over %s passes by what was deleted and meets nothing twice", async (name, hint) => {
    const t = await numbers(300, (i) => ({ x: i }));
    await t.createIndex("n", { x: 1 });
    const sort = name === "a backward index scan" ? { x: -1 } : hint && { x: 1 };
    const { cursor } = await t.run({ find: "n", ...(hint && { hint, sort }), batchSize: 100 });
    const seen: number[] = cursor.firstBatch.map(({ _id }: { _id: number }) => _id);
    const rest = Array.from({ length: 300 }, (_, i) => i).filter((i) => !seen.includes(i));
    // Of what is still to come, every third goes away; all that was seen moves ahead of the scan.
    await t.run({
      delete: "n",
      deletes: [{ q: { _id: { $in: rest.filter((i) => i % 3 === 0) } }, limit: 0 }],
    });
    const shift = name === "a backward index scan" ? -1000 : 1000;
    await t.run({
      update: "n",
      updates: [{ q: { _id: { $in: seen } }, u: { $inc: { x: shift } }, multi: true }],
    });
    const more = await t.run({ getMore: BigInt(cursor.id), collection: "n" });
    const later: number[] = more["cursor"].nextBatch.map(({ _id }: { _id: number }) => _id);
    expect([...later].sort((a, b) => a - b)).toEqual(rest.filter((i) => i % 3 !== 0));
  });
});
