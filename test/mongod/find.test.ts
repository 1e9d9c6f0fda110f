import { MaxKey, MinKey } from "bson";
import { describe, expect, it } from "vitest";
import { Interrupt } from "../../lib/mongod/planner/interrupt.js";
import { TestMongod } from "./support.js";

async function shelf(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "books",
    { _id: 1, title: "Emma", year: 1815, tags: ["novel", "comedy"] },
    { _id: 2, title: "Ulysses", year: 1922, tags: ["novel"] },
    { _id: 3, title: "Faust", year: 1808 },
    { _id: 4, title: "Middlemarch", year: 1871, tags: ["novel"] },
  );
  return t;
}

describe("find", () => {
  it("gives what matches, sorted, skipped, limited and projected", async () => {
    const t = await shelf();
    const found = await t.find(
      "books",
      { tags: "novel" },
      { sort: { year: -1 }, skip: 1, limit: 1, projection: { title: 1 } },
    );
    expect(found).toEqual([{ _id: 4, title: "Middlemarch" }]);
  });

  it("gives the same with an index that has the order", async () => {
    const t = await shelf();
    await t.createIndex("books", { year: 1 });
    for (const [direction, titles] of [
      [1, ["Faust", "Emma", "Middlemarch", "Ulysses"]],
      [-1, ["Ulysses", "Middlemarch", "Emma", "Faust"]],
    ] as const) {
      const found = await t.find("books", {}, { sort: { year: direction } });
      expect(found.map(({ title }) => title)).toEqual(titles);
    }
  });

  it("reads in reverse with {$natural: -1}, as hint or as sort", async () => {
    const t = await shelf();
    expect((await t.find("books", {}, { hint: { $natural: -1 } })).map(({ _id }) => _id)).toEqual([
      4, 3, 2, 1,
    ]);
    expect((await t.find("books", {}, { sort: { $natural: -1 } })).map(({ _id }) => _id)).toEqual([
      4, 3, 2, 1,
    ]);
  });

  it("answers nothing for a collection that does not exist", async () => {
    const t = new TestMongod();
    expect(await t.run({ find: "none" })).toEqual({
      cursor: { firstBatch: [], id: 0, ns: "library.none" },
      ok: 1,
    });
  });

  it("refuses an index hint that fits no index, by name and by key", async () => {
    const t = await shelf();
    for (const hint of ["year_1", { year: 1 }]) {
      expect(await t.reply({ find: "books", hint })).toMatchObject({ ok: 0, code: 2 });
    }
    await t.createIndex("books", { year: 1 });
    for (const hint of ["year_1", { year: 1 }]) {
      const explained = await t.explain({ find: "books", hint });
      expect(explained["queryPlanner"].winningPlan.inputStage.indexName).toBe("year_1");
    }
  });

  it.each([
    ["a resume token", { $_requestResumeToken: true }],
    ["query settings", { querySettings: { reject: true } }],
    ["a snapshot", { readConcern: { level: "snapshot" } }],
  ])("refuses %s as not simulated", async (_, options) => {
    const t = await shelf();
    expect(await t.reply({ find: "books", ...options })).toMatchObject({ ok: 0, code: 238 });
  });

  it("takes what changes nothing: simple collation, empty let, read concern majority", async () => {
    const t = await shelf();
    const options = {
      collation: { locale: "simple" },
      let: {},
      readConcern: { level: "majority" },
      comment: "hi",
    };
    expect(await t.find("books", { year: 1808 }, options)).toHaveLength(1);
  });

  it("refuses wrong types, negative numbers and unknown fields with MongoDB's codes", async () => {
    const t = await shelf();
    expect(await t.reply({ find: "books", filter: 5 })).toMatchObject({
      code: 14,
      errmsg: "BSON field 'find.filter' is the wrong type 'int', expected type 'object'",
    });
    expect(await t.reply({ find: "books", limit: -1 })).toMatchObject({ code: 51024 });
    expect(await t.reply({ find: "books", skip: -1 })).toMatchObject({ code: 51024 });
    expect(await t.reply({ find: "books", foo: 1 })).toMatchObject({ code: 40415 });
    expect(await t.reply({ find: 5 })).toMatchObject({
      code: 73,
      errmsg: "Collection name has invalid type int",
    });
    expect(await t.reply({ find: {} })).toMatchObject({
      code: 2,
      errmsg: "Collection name has invalid type object",
    });
  });

  it("looks at the clock more often where single steps take long", () => {
    let time = 0;
    const interrupt = new Interrupt(() => time, 100);
    const steps = (milliseconds: number): number => {
      for (let n = 1; ; n++) {
        time += milliseconds;
        try {
          interrupt.step();
        } catch {
          return n;
        }
      }
    };
    expect(steps(30)).toBeLessThan(8);
  });

  it("refuses a maxTimeMS that is no whole number of an int", async () => {
    // The texts as FerretDB's tests measured them on MongoDB 7.
    const t = new TestMongod();
    const refused: [unknown, string][] = [
      ["string", "maxTimeMS must be a number"],
      [1000.5, "maxTimeMS has non-integral value"],
      [-1, "-1 value for maxTimeMS is out of range [0, 2147483647]"],
      [2 ** 31, "2147483648 value for maxTimeMS is out of range [0, 2147483647]"],
      [Infinity, "9223372036854775807 value for maxTimeMS is out of range [0, 2147483647]"],
    ];
    for (const [maxTimeMS, errmsg] of refused)
      expect(await t.reply({ find: "books", maxTimeMS })).toMatchObject({ ok: 0, code: 2, errmsg });
  });

  it("ends a long scan when maxTimeMS is over", async () => {
    const t = new TestMongod();
    await t.insert("books", ...Array.from({ length: 5000 }, (_, i) => ({ _id: i })));
    // Every look at the clock takes a millisecond.
    Object.defineProperty(t.environment, "now", { value: () => (t.environment.time += 1) });
    expect(await t.reply({ find: "books", filter: { x: 1 }, maxTimeMS: 2 })).toMatchObject({
      ok: 0,
      code: 50,
    });
    expect(await t.reply({ find: "books", filter: { x: 1 }, maxTimeMS: 1000 })).toMatchObject({ ok: 1 });
  });
});

describe("min and max", () => {
  async function numbered(key: Record<string, unknown>): Promise<TestMongod> {
    const t = new TestMongod();
    await t.insert("n", ...Array.from({ length: 10 }, (_, i) => ({ _id: i, x: i, y: i % 2 })));
    await t.createIndex("n", key);
    return t;
  }

  it("bound a hinted index, half open", async () => {
    const t = await numbered({ x: 1 });
    const found = await t.find("n", {}, { hint: { x: 1 }, min: { x: 3 }, max: { x: 6 } });
    expect(found.map(({ x }) => x)).toEqual([3, 4, 5]);
    expect((await t.find("n", {}, { hint: "x_1", min: { x: 8 } })).map(({ x }) => x)).toEqual([8, 9]);
    expect((await t.find("n", {}, { hint: "x_1", max: { x: 2 } })).map(({ x }) => x)).toEqual([0, 1]);
    const odd = await t.find("n", { y: 1 }, { hint: "x_1", min: { x: 3 }, max: { x: 6 } });
    expect(odd.map(({ x }) => x)).toEqual([3, 5]);
  });

  it("follow the index's own order where it descends", async () => {
    const t = await numbered({ y: 1, x: -1 });
    const found = await t.find("n", {}, { hint: { y: 1, x: -1 }, min: { y: 1, x: 7 }, max: { y: 1, x: 1 } });
    expect(found.map(({ x }) => x)).toEqual([7, 5, 3]);
  });

  it("are hashes, MinKey or MaxKey over a hashed index: the pieces make the whole", async () => {
    const t = await numbered({ x: "hashed" });
    const hint = { x: "hashed" };
    const all = { min: { x: new MinKey() }, max: { x: new MaxKey() } };
    expect(await t.find("n", {}, { hint, ...all })).toHaveLength(10);
    const low = await t.find("n", {}, { hint, min: { x: new MinKey() }, max: { x: 0n } });
    const high = await t.find("n", {}, { hint, min: { x: 0n }, max: { x: new MaxKey() } });
    expect([...low, ...high].map(({ x }) => x).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // facts-mongos.md §2.2: 0, 1 and 2 hash above 0, 3 below.
    expect(high.map(({ x }) => x)).toEqual(expect.arrayContaining([0, 1, 2]));
    expect(low.map(({ x }) => x)).toContain(3);
  });

  it("need a hint that they fit, and min below max", async () => {
    const t = await numbered({ x: 1 });
    expect(await t.reply({ find: "n", min: { x: 1 } })).toMatchObject({ code: 51173 });
    expect(await t.reply({ find: "n", min: { y: 1 }, hint: "x_1" })).toMatchObject({ code: 51174 });
    expect(await t.reply({ find: "n", min: { x: 1, y: 1 }, hint: "x_1" })).toMatchObject({ code: 51174 });
    expect(await t.reply({ find: "n", min: { x: 5 }, max: { x: 5 }, hint: "x_1" })).toMatchObject({
      code: 51175,
    });
  });
});
