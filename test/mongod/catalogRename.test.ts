/** Collections that get another name, another database, or a limit. */
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function uuidOf(t: TestMongod, name: string): Promise<string> {
  const [listed] = await t.all({ listCollections: 1, filter: { name } });
  return String(listed!["info"].uuid);
}

describe("renameCollection", () => {
  const rename = (from: string, to: string, options: object = {}): object => ({
    renameCollection: `library.${from}`,
    to: `library.${to}`,
    ...options,
  });

  it("within a database changes the name and nothing else", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1, n: 1 });
    await t.createIndex("loans", { n: 1 }, { unique: true });
    const uuid = await uuidOf(t, "loans");
    expect(await t.run(rename("loans", "rentals"), "admin")).toEqual({ ok: 1 });
    expect(await t.find("loans")).toEqual([]);
    expect(await t.find("rentals")).toEqual([{ _id: 1, n: 1 }]);
    expect(await uuidOf(t, "rentals")).toBe(uuid);
    // Messages about the index speak of the new name.
    const reply = await t.reply({ insert: "rentals", documents: [{ _id: 2, n: 1 }] });
    expect(reply["writeErrors"][0].errmsg).toMatch(/collection: library\.rentals index: n_1/);
  });

  it("replaces another collection only where told so", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    await t.insert("rentals", { _id: 2 });
    expect(await t.reply(rename("loans", "rentals"), "admin")).toMatchObject({
      code: 48,
      errmsg: "target namespace exists",
    });
    expect(await t.run(rename("loans", "rentals", { dropTarget: true }), "admin")).toEqual({ ok: 1 });
    expect(await t.find("rentals")).toEqual([{ _id: 1 }]);
  });

  it("to another database copies documents, options and indexes under a new UUID", async () => {
    const t = new TestMongod();
    await t.run({ create: "loans", validator: { n: { $gt: 0 } } });
    await t.insert("loans", { _id: 1, n: 1 }, { _id: 2, n: 2 });
    await t.createIndex("loans", { n: 1 });
    const uuid = await uuidOf(t, "loans");
    await t.run({ renameCollection: "library.loans", to: "archive.loans" }, "admin");
    expect((await t.run({ listDatabases: 1, nameOnly: true }, "admin"))["databases"]).toEqual([
      { name: "archive" },
    ]);
    const listed = await t.run({ listCollections: 1 }, "archive");
    const [collection] = listed["cursor"].firstBatch;
    expect(collection).toMatchObject({ name: "loans", options: { validator: { n: { $gt: 0 } } } });
    expect(String(collection.info.uuid)).not.toBe(uuid);
    expect(await t.run({ count: "loans" }, "archive")).toMatchObject({ n: 2 });
    const indexes = await t.run({ listIndexes: "loans" }, "archive");
    expect(indexes["cursor"].firstBatch.map(({ name }: { name: string }) => name)).toEqual(["_id_", "n_1"]);
  });

  it("ends the cursors that were reading the old name", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 }, { _id: 2 }, { _id: 3 });
    const { cursor } = await t.run({ find: "loans", batchSize: 1 });
    await t.run(rename("loans", "rentals"), "admin");
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "loans" })).toMatchObject({
      code: 175,
      errmsg: "collection renamed from 'library.loans' to 'library.rentals'",
    });
  });

  // [command, code]
  const bad: [object, number][] = [
    [rename("loans", "loans"), 20],
    [rename("none", "x"), 26],
    [{ renameCollection: "nowhere.loans", to: "library.x" }, 26],
    [rename("view", "x"), 166],
    [rename("loans", "view"), 48],
    [rename("system.views", "x"), 20],
    [rename("loans", "system.views"), 20],
    [rename("loans", "system.mine"), 73],
    [rename("loans", "bad$name"), 73],
    [rename("loans", ""), 73],
    [{ renameCollection: "library", to: "library.x" }, 73],
    [{ renameCollection: "library.loans", to: "local.x" }, 20],
    [{ renameCollection: "library.loans" }, 40414],
    [{ renameCollection: "library.loans", to: 5 }, 14],
    [rename("loans", "x", { foo: 1 }), 40415],
  ];
  it.each(bad)("%j is refused", async (command, code) => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    await t.run({ create: "view", viewOn: "loans" });
    expect(await t.reply(command, "admin")).toMatchObject({ code });
    expect(await t.find("loans")).toEqual([{ _id: 1 }]);
  });

  it("runs in admin only", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    expect(await t.reply(rename("loans", "x"))).toMatchObject({
      code: 13,
      errmsg: "renameCollection may only be run against the admin database.",
    });
  });
});

describe("making a collection a capped one", () => {
  it("keeps documents and options, not indexes", async () => {
    const t = new TestMongod();
    await t.run({ create: "log", validator: { n: { $exists: true } } });
    await t.insert("log", { _id: 1, n: 1 }, { _id: 2, n: 2 });
    await t.createIndex("log", { n: 1 });
    expect(await t.run({ convertToCapped: "log", size: 4096 })).toEqual({ ok: 1 });
    expect(await t.run({ collStats: "log" })).toMatchObject({ capped: true, count: 2, nindexes: 1 });
    const [listed] = await t.all({ listCollections: 1 });
    expect(listed!["options"]).toEqual({ capped: true, size: 4096, validator: { n: { $exists: true } } });
  });

  it("keeps the latest documents where not all find room, and all of them where one finds none", async () => {
    const t = new TestMongod();
    // Documents of 14 bytes: three fit into 50.
    await t.insert("log", ...[1, 2, 3, 4, 5].map((_id) => ({ _id })));
    await t.run({ convertToCapped: "log", size: 50 });
    expect(await t.find("log")).toEqual([{ _id: 3 }, { _id: 4 }, { _id: 5 }]);
    expect(await t.reply({ convertToCapped: "log", size: 10 })).toMatchObject({ ok: 0 });
    expect(await t.find("log")).toEqual([{ _id: 3 }, { _id: 4 }, { _id: 5 }]);
    expect((await t.all({ listCollections: 1 })).map(({ name }) => name)).toEqual(["log"]);
  });

  it("or copies it, leaving the first as it was", async () => {
    const t = new TestMongod();
    await t.insert("log", { _id: 1 }, { _id: 2 });
    const clone = { cloneCollectionAsCapped: "log", toCollection: "recent", size: 4096 };
    expect(await t.run(clone)).toEqual({ ok: 1 });
    expect(await t.find("recent")).toEqual([{ _id: 1 }, { _id: 2 }]);
    expect(await t.run({ collStats: "log" })).toMatchObject({ capped: false, count: 2 });
    expect(await t.reply(clone)).toMatchObject({ code: 48 });
  });

  it("needs a size and a collection", async () => {
    const t = new TestMongod();
    await t.insert("log", { _id: 1 });
    expect(await t.reply({ convertToCapped: "log" })).toMatchObject({ code: 72 });
    await t.run({ create: "v", viewOn: "log" });
    expect(await t.reply({ convertToCapped: "system.views", size: 4096 })).toMatchObject({ code: 73 });
    const clone = { cloneCollectionAsCapped: "log", toCollection: "system.log", size: 4096 };
    expect(await t.reply(clone)).toMatchObject({ code: 73 });
    expect(await t.reply({ convertToCapped: "log", size: -1 })).toMatchObject({ code: 72 });
    expect(await t.reply({ convertToCapped: "none", size: 4096 })).toMatchObject({
      code: 26,
      errmsg: "source collection library.none does not exist",
    });
    expect(await t.reply({ cloneCollectionAsCapped: "none", toCollection: "x", size: 4096 })).toMatchObject({
      code: 26,
    });
  });
});

describe("dbHash", () => {
  it("is MD5 over the documents in the order of _id, whatever they were inserted in", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 2 }, { _id: 1 });
    await t.insert("b", { _id: 1 }, { _id: 2 });
    await t.run({ create: "empty", capped: true, size: 4096 });
    const hash = await t.run({ dbHash: 1 });
    expect(hash["collections"].a).toBe(hash["collections"].b);
    // MD5 of nothing.
    expect(hash["collections"].empty).toBe("d41d8cd98f00b204e9800998ecf8427e");
    expect(hash["capped"]).toEqual(["empty"]);
    const one = await t.run({ dbHash: 1, collections: ["a"] });
    expect(Object.keys(one["collections"])).toEqual(["a"]);
    await t.run({ update: "a", updates: [{ q: { _id: 1 }, u: { $set: { x: 1 } } }] });
    const changed = await t.run({ dbHash: 1 });
    expect(changed["collections"].a).not.toBe(hash["collections"].a);
    expect(changed["md5"]).not.toBe(hash["md5"]);
  });

  it("of two documents is what md5sum says of their bytes", async () => {
    const { createHash } = await import("node:crypto");
    const { toDocument } = await import("./support.js");
    const t = new TestMongod();
    const documents = Array.from({ length: 50 }, (_, i) => ({ _id: i, text: "x".repeat(i) }));
    await t.insert("a", ...documents);
    const md5 = createHash("md5");
    for (const document of documents) md5.update(toDocument(document));
    expect((await t.run({ dbHash: 1 }))["collections"].a).toBe(md5.digest("hex"));
  });
});

describe("dataSize", () => {
  it("counts bytes and documents of a collection", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 }, { _id: 2, n: 1 }); // 14 + 21 bytes
    expect(await t.run({ dataSize: "library.loans" })).toEqual({
      estimate: false,
      size: 35,
      numObjects: 2,
      millis: 0,
      ok: 1,
    });
    expect(await t.run({ dataSize: "library.none" })).toMatchObject({ size: 0, numObjects: 0 });
    expect(await t.reply({ dataSize: "library.loans", keyPattern: { _id: 1 } })).toMatchObject({ code: 238 });
    expect(await t.reply({ dataSize: "nodots" })).toMatchObject({ code: 73 });
  });
});
