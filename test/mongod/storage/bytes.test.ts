import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DocumentWriter, BsonType, binary, int32, rawValue, type RawValue } from "../../../lib/bson/index.js";
import { readCursorReply, request } from "../../../lib/protocol/index.js";
import { anyValue } from "../../bson/arbitraries.js";
import { TestMongod, toDocument } from "../support.js";

/** Any 64 bits as a double: NaNs with whatever in them, −0, denormalised numbers. */
const anyDouble = fc
  .oneof(
    fc.uint8Array({ minLength: 8, maxLength: 8 }),
    fc.uint8Array({ minLength: 6, maxLength: 6 }).map((low) => Uint8Array.of(...low, 0xf8, 0xff)),
  )
  .map((bytes) => rawValue(BsonType.double, bytes, 0, 8));
/** Any 128 bits as a decimal: not only those that a library would write. */
const anyDecimal = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => rawValue(BsonType.decimal128, bytes, 0, 16));
const anyBinary = fc
  .tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(255))
  .map(([data, subtype]) => binary(data, subtype));
const value: fc.Arbitrary<RawValue> = fc.oneof(
  { weight: 5, arbitrary: anyValue },
  anyDouble,
  anyDecimal,
  anyBinary,
);
const name = fc
  .oneof(fc.constantFrom("a", "b", "", "a.b", "é"), fc.string({ maxLength: 5 }))
  .map((text) => text.replaceAll("\0", ""));

/** A document of any content, several fields of one name included, after its `_id`. */
function withId(id: number, list: readonly (readonly [string, RawValue])[]): Uint8Array {
  const writer = new DocumentWriter().field("_id", int32(id));
  for (const [field, content] of list) if (field !== "_id") writer.field(field, content);
  return writer.finish();
}

describe("what is stored", () => {
  it("comes back byte for byte, whatever it is, alone and in company, before and after the page was packed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.tuple(name, value), { maxLength: 6 }), { minLength: 1, maxLength: 8 }),
        async (contents) => {
          const t = new TestMongod();
          const documents = contents.map((list, i) => withId(i, list));
          const read = async (): Promise<Uint8Array[]> =>
            readCursorReply(
              await t.mongod.run(request("library", { find: "c", filter: { _id: { $lt: 100 } } })),
            ).batch;
          const body = { insert: "c", bypassEmptyTsReplacement: true };
          await t.mongod.run(request("library", toDocument(body), { documents }));
          expect(await read()).toEqual(documents);
          await t.insert("c", ...Array.from({ length: 300 }, (_, i) => ({ _id: 100 + i })));
          await t.run({ delete: "c", deletes: [{ q: { _id: { $gte: 100 } }, limit: 0 }] });
          expect(await read()).toEqual(documents);
        },
      ),
      { numRuns: 60 },
    );
  });
});
