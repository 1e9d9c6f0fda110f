import type { Document } from "bson";
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

/** A collection whose documents must have a positive n, with one document in it that hasn't. */
async function validated(options: object = {}): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("a", { _id: "old", n: -1 }, { _id: "good", n: 1 });
  await t.run({ collMod: "a", validator: { n: { $gt: 0 } }, ...options });
  return t;
}

const update = (q: object, u: object, rest: object = {}): object => ({
  update: "a",
  updates: [{ q, u, ...rest }],
});

describe("a validator", () => {
  it("refuses an insert with 121 and says which document failed what", async () => {
    const t = await validated();
    const reply = await t.run({
      insert: "a",
      documents: [
        { _id: 1, n: 5 },
        { _id: 2, n: 0 },
        { _id: 3, n: 6 },
      ],
    });
    expect(reply).toEqual({
      n: 1,
      writeErrors: [
        {
          index: 1,
          code: 121,
          errmsg: "Document failed validation",
          errInfo: {
            failingDocumentId: 2,
            details: {
              operatorName: "$gt",
              specifiedAs: { n: { $gt: 0 } },
              reason: "comparison failed",
              consideredValue: 0,
            },
          },
        },
      ],
      ok: 1,
    });
    expect(await t.find("a", { _id: { $in: [1, 2, 3] } })).toEqual([{ _id: 1, n: 5 }]);
  });

  it("refuses updates, replacements, pipelines and upserts, and leaves the documents as they were", async () => {
    const t = await validated();
    for (const command of [
      update({ _id: "good" }, { $set: { n: 0 } }),
      update({ _id: "good" }, { m: 1 }),
      update({ _id: "good" }, [{ $set: { n: -5 } }] as object),
      update({ _id: "new" }, { $set: { n: 0 } }, { upsert: true }),
    ]) {
      const reply = await t.run(command);
      expect(reply).toMatchObject({ n: 0, nModified: 0 });
      expect(reply["writeErrors"][0]).toMatchObject({
        code: 121,
        errmsg: "Plan executor error during update :: caused by :: Document failed validation",
        errInfo: { details: { operatorName: "$gt" } },
      });
    }
    expect(await t.find("a")).toEqual([
      { _id: "old", n: -1 },
      { _id: "good", n: 1 },
    ]);
  });

  it("refuses a findAndModify as a whole, and operations of bulkWrite one by one", async () => {
    const t = await validated();
    expect(
      await t.reply({ findAndModify: "a", query: { _id: "good" }, update: { $set: { n: 0 } } }),
    ).toMatchObject({
      ok: 0,
      code: 121,
      codeName: "DocumentValidationFailure",
      errmsg: "Plan executor error during findAndModify :: caused by :: Document failed validation",
      errInfo: { failingDocumentId: "good", details: { operatorName: "$gt" } },
    });
    const { cursor } = await t.run(
      {
        bulkWrite: 1,
        ops: [
          { insert: 0, document: { _id: 1 } },
          { update: 0, filter: { _id: "good" }, updateMods: { $set: { n: 0 } } },
          { update: 0, filter: { _id: "good" }, updateMods: { $set: { n: 2 } } },
        ],
        nsInfo: [{ ns: "library.a" }],
        ordered: false,
      },
      "admin",
    );
    const replies: Document[] = cursor.firstBatch;
    expect(replies.map(({ ok, code }) => [ok, code])).toEqual([
      [0, 121],
      [0, 121],
      [1, undefined],
    ]);
    expect(replies[0]).toMatchObject({ errInfo: { failingDocumentId: 1 } });
  });

  it("is strict unless said otherwise: a document that is wrong already must become right", async () => {
    const t = await validated();
    expect(await t.run(update({ _id: "old" }, { $set: { m: 1 } }))).toMatchObject({ nModified: 0 });
    expect(await t.run(update({ _id: "old" }, { $set: { n: 3 } }))).toMatchObject({ nModified: 1 });
  });

  it("with level moderate lets documents that are wrong already be changed, and no others", async () => {
    const t = await validated({ validationLevel: "moderate" });
    expect(await t.run(update({ _id: "old" }, { $set: { m: 1 } }))).toMatchObject({ nModified: 1 });
    expect(await t.run(update({ _id: "good" }, { $set: { n: 0 } }))).toMatchObject({ nModified: 0 });
    expect(await t.run({ insert: "a", documents: [{ n: 0 }] })).toMatchObject({ n: 0 });
  });

  it("with level off or action warn refuses nothing", async () => {
    for (const options of [{ validationLevel: "off" }, { validationAction: "warn" }]) {
      const t = await validated(options);
      expect(await t.run({ insert: "a", documents: [{ _id: 1, n: 0 }] })).toEqual({ n: 1, ok: 1 });
      expect(await t.run(update({ _id: "good" }, { $set: { n: 0 } }))).toMatchObject({ nModified: 1 });
    }
  });

  it("is not asked when a command bypasses it", async () => {
    const t = await validated();
    const bypassDocumentValidation = true;
    await t.run({ insert: "a", documents: [{ _id: 1, n: 0 }], bypassDocumentValidation });
    await t.run({ ...update({ _id: "good" }, { $set: { n: 0 } }), bypassDocumentValidation });
    await t.run({
      findAndModify: "a",
      query: { _id: "fam" },
      update: { $set: { n: 0 } },
      upsert: true,
      bypassDocumentValidation,
    });
    await t.run(
      {
        bulkWrite: 1,
        ops: [{ insert: 0, document: { _id: "bulk", n: 0 } }],
        nsInfo: [{ ns: "library.a" }],
        bypassDocumentValidation,
      },
      "admin",
    );
    expect((await t.find("a", { n: 0 })).map(({ _id }) => _id)).toEqual(["good", 1, "fam", "bulk"]);
  });

  it("can be a JSON schema", async () => {
    const t = new TestMongod();
    const $jsonSchema = { required: ["name"], properties: { age: { bsonType: "int", minimum: 0 } } };
    await t.run({ create: "a", validator: { $jsonSchema } });
    expect(await t.run({ insert: "a", documents: [{ _id: 1, name: "ann", age: 3 }] })).toEqual({
      n: 1,
      ok: 1,
    });
    const reply = await t.run({ insert: "a", documents: [{ _id: 2, age: -1 }] });
    expect(reply["writeErrors"][0]).toMatchObject({
      code: 121,
      errInfo: {
        failingDocumentId: 2,
        details: {
          operatorName: "$jsonSchema",
          schemaRulesNotSatisfied: [
            {
              operatorName: "properties",
              propertiesNotSatisfied: [
                {
                  propertyName: "age",
                  details: [{ operatorName: "minimum", specifiedAs: { minimum: 0 }, consideredValue: -1 }],
                },
              ],
            },
            { operatorName: "required", missingProperties: ["name"] },
          ],
        },
      },
    });
  });

  it("compares with the collection's collation", async () => {
    const t = new TestMongod();
    await t.run({
      create: "a",
      validator: { s: "yes" },
      collation: { locale: "en", strength: 2 },
    });
    expect(await t.run({ insert: "a", documents: [{ _id: 1, s: "YES" }] })).toMatchObject({ n: 1 });
    expect(await t.run({ insert: "a", documents: [{ _id: 2, s: "no" }] })).toMatchObject({ n: 0 });
  });
});
