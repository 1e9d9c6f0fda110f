import { Code, Double, Long, ObjectId } from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BsonError,
  EMPTY_DOCUMENT,
  FieldPath,
  asDocument,
  compareDocuments,
  describeDocument,
  document,
  documentSortableKey,
  elements,
  fields,
  getPath,
  hash64,
  toDocument,
  topLevelNames,
  validateDocument,
} from "../../lib/bson/index.js";
import { anyDocument } from "./arbitraries.js";

/** Reads everything of a document in every way there is. */
function readAll(doc: Uint8Array): void {
  fields(doc);
  elements(doc);
  topLevelNames(doc);
  describeDocument(doc);
  documentSortableKey(doc);
  hash64(document(doc));
  compareDocuments(doc, doc);
  compareDocuments(doc, SAMPLE);
  getPath(doc, "a.b.c");
  const path = new FieldPath("a.b");
  path.valuesOf(doc);
  path.meetsArray(doc);
}

const SAMPLE = toDocument({
  _id: new ObjectId(),
  a: { b: [1, { c: "x" }], d: Long.fromNumber(5) },
  code: new Code("f()", { a: 1 }),
  r: /x/i,
  n: new Double(1),
  t: true,
});

function hexDocument(hex: string): Uint8Array {
  return Uint8Array.from(hex.split(" ").map((byte) => parseInt(byte, 16)));
}

describe("validateDocument", () => {
  it("accepts documents of every type", () => {
    validateDocument(EMPTY_DOCUMENT);
    validateDocument(SAMPLE);
    fc.assert(fc.property(anyDocument, (doc) => validateDocument(doc)));
  });

  it.each([
    ["no bytes", "", "cut short"],
    ["four bytes", "05 00 00 00", "cut short"],
    ["length less than 5", "04 00 00 00 00", "length 4"],
    ["negative length", "ff ff ff ff 00", "length -1"],
    ["length beyond the bytes", "06 00 00 00 00", "length 6"],
    ["bytes behind the document", "05 00 00 00 00 00", "bytes behind"],
    ["no terminator", "05 00 00 00 01", "document without terminator"],
    ["a NUL where a type should be", "08 00 00 00 00 61 00 00", "unknown type 0"],
    ["unknown type", "08 00 00 00 20 61 00 00", "unknown type 32"],
    ["name without end", "07 00 00 00 0a 61 00", "field name without terminator"],
    ["int32 cut short", "0b 00 00 00 10 61 00 01 00 00 00", "value reaches beyond"],
    ["ObjectId cut short", "0c 00 00 00 07 61 00 01 02 03 04 00", "value reaches beyond"],
    ["boolean 2", "09 00 00 00 08 61 00 02 00", "neither 0 nor 1"],
    ["boolean cut short", "08 00 00 00 08 61 00 00", "value reaches beyond"],
    ["string of length 0", "0d 00 00 00 02 61 00 00 00 00 00 00 00", "string length 0"],
    ["string without NUL", "0d 00 00 00 02 61 00 01 00 00 00 78 00", "string without terminator"],
    ["string beyond its document", "0d 00 00 00 02 61 00 03 00 00 00 00 00", "string length 3"],
    ["string of negative length", "0d 00 00 00 02 61 00 fa ff ff ff 00 00", "string length -6"],
    ["string of length 2^31 - 1", "0d 00 00 00 02 61 00 ff ff ff 7f 00 00", "string length 2147483647"],
    ["binary of negative length", "0d 00 00 00 05 61 00 ff ff ff ff 00 00", "binary length -1"],
    ["binary beyond its document", "0d 00 00 00 05 61 00 01 00 00 00 00 00", "binary length 1 "],
    ["binary of length 2^31 - 1", "0d 00 00 00 05 61 00 ff ff ff 7f 00 00", "binary length 2147483647"],
    ["inner document too long", "0d 00 00 00 03 61 00 06 00 00 00 00 00", "document length 6"],
    ["inner document too short", "0d 00 00 00 03 61 00 04 00 00 00 00 00", "document length 4"],
    [
      "inner document without terminator",
      "0d 00 00 00 03 61 00 05 00 00 00 01 00",
      "document without terminator",
    ],
    [
      "inner field reaching into the outer",
      "10 00 00 00 03 61 00 08 00 00 00 10 61 00 00 00",
      "value reaches beyond",
    ],
    ["regex without flags", "0a 00 00 00 0b 61 00 78 00 00", "value reaches beyond"],
    ["DBPointer cut short", "0e 00 00 00 0c 61 00 01 00 00 00 00 00 00", "value reaches beyond"],
    [
      "code with scope, total too short",
      "16 00 00 00 0f 61 00 0d 00 00 00 01 00 00 00 00 05 00 00 00 00 00",
      "scope does not fit",
    ],
    [
      "code with scope, scope shorter than total",
      "17 00 00 00 0f 61 00 0f 00 00 00 01 00 00 00 00 05 00 00 00 00 00 00",
      "scope does not fit",
    ],
  ])("refuses: %s", (_name, hex, reason) => {
    const bytes = hex === "" ? new Uint8Array(0) : hexDocument(hex);
    expect(() => validateDocument(bytes)).toThrow(BsonError);
    expect(() => validateDocument(bytes)).toThrow(reason);
  });

  it("an error has MongoDB's code and says what and where", () => {
    expect(() => validateDocument(hexDocument("08 00 00 00 20 61 00 00"))).toThrow(
      expect.objectContaining({
        code: 22,
        codeName: "InvalidBSON",
        message: "invalid BSON: unknown type 32 at byte 4",
      }),
    );
  });

  it("allows 200 levels and no more, without recursion", () => {
    const nested = (levels: number): Uint8Array => {
      const bytes = new Uint8Array(5 + 8 * (levels - 1));
      const view = new DataView(bytes.buffer);
      for (let i = 0; i < levels; i++) {
        view.setInt32(7 * i, bytes.length - 8 * i, true);
        if (i < levels - 1) bytes.set([3, 0x61, 0], 7 * i + 4);
      }
      return bytes;
    };
    validateDocument(nested(200));
    readAll(nested(200));
    expect(() => validateDocument(nested(201))).toThrow("BSONObj exceeds maximum nested object depth");
    expect(() => validateDocument(nested(100_000))).toThrow(BsonError);
    validateDocument(nested(3), { maxDepth: 3 });
    expect(() => validateDocument(nested(4), { maxDepth: 3 })).toThrow(BsonError);
    validateDocument(nested(1000), { maxDepth: 1000 });
    expect(() => validateDocument(nested(201))).toThrow("BSONObj exceeds maximum nested object depth");
  });

  it("refuses every document cut short", () => {
    for (let length = 0; length < SAMPLE.length; length++) {
      const cut = SAMPLE.slice(0, length);
      expect(() => validateDocument(cut)).toThrow(BsonError);
      if (length < 5) continue;
      cut[0] = length; // even with a length that fits
      cut[1] = 0;
      try {
        validateDocument(cut);
      } catch (error) {
        expect(error).toBeInstanceOf(BsonError);
        continue;
      }
      readAll(cut);
    }
  });

  /** Random documents with random bytes changed, `bytes` lying inside a larger buffer full of ones. */
  const damaged = fc
    .tuple(
      anyDocument,
      fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(0, 1, 3, 4, 5, 15, 127, 128, 255), fc.nat(255))), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([doc, changes]) => {
      const around = new Uint8Array(doc.length + 64).fill(1);
      around.set(doc, 32);
      const bytes = around.subarray(32, 32 + doc.length);
      for (const [at, byte] of changes) bytes[at % doc.length] = byte;
      return bytes;
    });

  it("what it lets through can be read in every way; what it refuses is refused with BsonError", () => {
    let passed = 0;
    let refused = 0;
    fc.assert(
      fc.property(damaged, (bytes) => {
        try {
          validateDocument(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(BsonError);
          refused++;
          return;
        }
        passed++;
        readAll(bytes);
      }),
      { numRuns: 4000 },
    );
    expect(Math.min(passed, refused)).toBeGreaterThan(100);
  });

  it("even what it refuses makes no accessor run away: a result or a BsonError", () => {
    fc.assert(
      fc.property(damaged, (bytes) => {
        for (const read of [readAll, fields, elements, (d: Uint8Array) => asDocument(document(d))]) {
          try {
            read(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(BsonError);
          }
        }
      }),
      { numRuns: 4000 },
    );
  });
});
