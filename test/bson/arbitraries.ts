/** Random BSON values of every type, drawn so that near misses and equal values of other types are common. */
import { BSONRegExp, Code, Decimal128 } from "bson";
import fc from "fast-check";
import {
  BsonType,
  DocumentWriter,
  FALSE,
  MAX_KEY,
  MIN_KEY,
  NULL,
  TRUE,
  UNDEFINED,
  array,
  binary,
  date,
  document,
  double,
  encodeValue,
  getField,
  int32,
  int64,
  objectId,
  string,
  timestamp,
  type RawValue,
} from "../../lib/bson/index.js";

export function decimal(text: string): RawValue {
  return encodeValue(Decimal128.fromString(text));
}

export function symbol(text: string): RawValue {
  return { ...string(text), type: BsonType.symbol };
}

export function code(text: string): RawValue {
  return { ...string(text), type: BsonType.code };
}

export function dbPointer(namespace: string, id: Uint8Array): RawValue {
  const name = string(namespace);
  const bytes = new Uint8Array(name.end + 12);
  bytes.set(name.bytes.subarray(0, name.end));
  bytes.set(id, name.end);
  return { type: BsonType.dbPointer, bytes, start: 0, end: bytes.length };
}

/** The same value in the middle of a larger document, so that `start` is not 0. */
export function embedded(v: RawValue): RawValue {
  return getField(new DocumentWriter().string("before", "x").field("v", v).int32("after", 1).finish(), "v")!;
}

/** Whole numbers around which types differ. */
const EDGES = [
  0n,
  1n,
  -1n,
  10n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 53n,
  -(2n ** 53n),
  2n ** 60n,
  2n ** 63n,
  -(2n ** 63n),
];
const SPECIAL_DOUBLES = [
  0,
  -0,
  0.1,
  0.5,
  1.5,
  -1.5,
  NaN,
  Infinity,
  -Infinity,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
];
const SPECIAL_DECIMALS = [
  "0",
  "-0",
  "0E+3",
  "0.1",
  "0.5",
  "0.50",
  "1.5",
  "-1.5",
  "NaN",
  "Infinity",
  "-Infinity",
  "1E-6176",
  "-1E-6176",
  "9.999999999999999999999999999999999E+6144",
  "-9.999999999999999999999999999999999E+6144",
  "1.7976931348623157E+308",
  "1.8E+308",
  "4.9E-324",
  "5E-324",
  "2E-324",
  "9007199254740992.5",
  "9007199254740993",
  "9007199254740993.5",
  "9007199254740993.50",
  "-9007199254740993.5",
  "9223372036854775807",
  "9223372036854775807.5",
  "9223372036854775808",
  "18446744073709551616",
  "18446744073709551617",
  "0.1000000000000000055511151231257827",
];

const nearEdge = fc
  .tuple(fc.constantFrom(...EDGES), fc.integer({ min: -3, max: 3 }))
  .map(([edge, step]) => edge + BigInt(step));

export const numberValue: fc.Arbitrary<RawValue> = fc.oneof(
  fc.integer({ min: -3, max: 3 }).map(int32),
  fc.integer().map(int32),
  fc.integer({ min: -6, max: 6 }).map((n) => double(n / 2)),
  fc.double().map(double),
  fc.constantFrom(...SPECIAL_DOUBLES).map(double),
  nearEdge.map((n) => double(Number(n))),
  nearEdge.map((n) => int64(BigInt.asIntN(64, n))),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(int64),
  nearEdge.map((n) => decimal(n.toString())),
  fc.constantFrom(...SPECIAL_DECIMALS).map(decimal),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 34n) + 1n, max: 10n ** 34n - 1n }), fc.integer({ min: -60, max: 30 }))
    .map(([coefficient, exponent]) => decimal(`${coefficient}E${exponent}`)),
);

const text = fc.oneof(
  fc.constantFrom("", "a", "ab", "b", "a\0", "a\0b", "a\u0001", "\0", "\u0001", "é", "日本", "😀", "\uffff"),
  fc.string({ maxLength: 8, unit: "binary" }),
  fc.string({ minLength: 60, maxLength: 300 }),
);
const cstring = text.map((t) => t.replaceAll("\0", ""));
const bytes12 = fc.uint8Array({ minLength: 12, maxLength: 12 });
const unsigned32 = fc.oneof(fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xffffffff), fc.nat());

const scalarValue: fc.Arbitrary<RawValue> = fc.oneof(
  { weight: 4, arbitrary: numberValue },
  { weight: 3, arbitrary: text.map(string) },
  text.map(symbol),
  fc.constantFrom(NULL, UNDEFINED, MIN_KEY, MAX_KEY, TRUE, FALSE),
  bytes12.map(objectId),
  fc
    .tuple(fc.uint8Array({ maxLength: 4 }), fc.constantFrom(0, 1, 4, 5, 128))
    .map(([data, subtype]) => binary(data, subtype)),
  fc.oneof(fc.constantFrom(-1n, 0n, 1n), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })).map(date),
  fc.tuple(unsigned32, unsigned32).map(([high, low]) => timestamp(high, low)),
  fc
    .tuple(cstring, fc.constantFrom("", "i", "im"))
    .map(([pattern, flags]) => encodeValue(new BSONRegExp(pattern, flags))),
  fc.tuple(text, bytes12).map(([namespace, id]) => dbPointer(namespace, id)),
  text.map(code),
);

const fieldName = fc.oneof(fc.constantFrom("a", "b", "ab", "", "é"), cstring);

/** A value of any type, objects and arrays up to three levels deep. */
export const anyValue: fc.Arbitrary<RawValue> = fc.letrec<{ value: RawValue; doc: Uint8Array }>((tie) => ({
  doc: fc.array(fc.tuple(fieldName, tie("value")), { maxLength: 3 }).map((list) => {
    const writer = new DocumentWriter();
    for (const [name, value] of list) writer.field(name, value);
    return writer.finish();
  }),
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: "bson" },
    { weight: 6, arbitrary: scalarValue },
    { weight: 1, arbitrary: scalarValue.map(embedded) },
    { weight: 1, arbitrary: tie("doc").map(document) },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }).map(array) },
    {
      weight: 1,
      arbitrary: fc.tuple(text, tie("doc")).map(([source, scope]) => codeWithScope(source, scope)),
    },
  ),
})).value;

export function codeWithScope(source: string, scope: Uint8Array): RawValue {
  const value = encodeValue(new Code(source, {}));
  const bytes = new Uint8Array(value.end - value.start - 5 + scope.length);
  bytes.set(value.bytes.subarray(value.start, value.end - 5));
  bytes.set(scope, value.end - value.start - 5);
  new DataView(bytes.buffer).setInt32(0, bytes.length, true);
  return { type: BsonType.codeWithScope, bytes, start: 0, end: bytes.length };
}

/** Documents of any content. */
export const anyDocument: fc.Arbitrary<Uint8Array> = fc
  .array(fc.tuple(fieldName, anyValue), { maxLength: 5 })
  .map((list) => {
    const writer = new DocumentWriter();
    for (const [name, value] of list) writer.field(name, value);
    return writer.finish();
  });
