/** Frames written by hand, byte by byte, for tests that must not trust our own encoder. */
import { crc32c } from "../../lib/protocol/crc32c.js";
import { serialize } from "bson";

/** Little-endian int32. */
export function int32(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >> 24) & 0xff];
}

/** Zero-terminated ASCII. */
export function cstring(text: string): number[] {
  return [...Buffer.from(text, "latin1"), 0];
}

/** BSON by the official library. */
export function bson(document: object): number[] {
  return [...serialize(document)];
}

/** A whole message: header and payload, the length filled in. */
export function message(opCode: number, payload: readonly number[], requestId = 7): Uint8Array {
  return Uint8Array.from([
    ...int32(16 + payload.length),
    ...int32(requestId),
    ...int32(0),
    ...int32(opCode),
    ...payload,
  ]);
}

export const OP_QUERY = 2004;
export const OP_COMPRESSED = 2012;
export const OP_MSG = 2013;

/** A kind 0 section. */
export function body(document: object): number[] {
  return [0, ...bson(document)];
}

/** A kind 1 section. */
export function sequence(name: string, documents: readonly object[]): number[] {
  const content = [...cstring(name), ...documents.flatMap(bson)];
  return [1, ...int32(4 + content.length), ...content];
}

/** An OP_MSG of these sections. */
export function opMsg(sections: readonly number[][], flags = 0, requestId = 7): Uint8Array {
  return message(OP_MSG, [...int32(flags), ...sections.flat()], requestId);
}

/** An insert of megabytes, for which lists of numbers are too slow. */
export function largeInsert(collection: string, documents: readonly object[], requestId = 7): Uint8Array {
  const content = Buffer.concat([
    Buffer.from("documents\0"),
    ...documents.map((document) => serialize(document)),
  ]);
  const head = Buffer.from([...int32(0), ...body({ insert: collection, $db: "library" }), 1]);
  const size = Buffer.from(int32(4 + content.length));
  const length = 16 + head.length + size.length + content.length;
  const header = Buffer.from([...int32(length), ...int32(requestId), ...int32(0), ...int32(OP_MSG)]);
  return Buffer.concat([header, head, size, content]);
}

/** The same with a correct checksum. */
export function withChecksum(sections: readonly number[][], flags = 1): Uint8Array {
  const bytes = message(OP_MSG, [...int32(flags), ...sections.flat(), 0, 0, 0, 0]);
  const end = bytes.length - 4;
  bytes.set(int32(crc32c(bytes, 0, end)), end);
  return bytes;
}

/** An OP_QUERY on `namespace`. */
export function opQuery(namespace: string, document: object, requestId = 7): Uint8Array {
  return message(
    OP_QUERY,
    [...int32(0), ...cstring(namespace), ...int32(0), ...int32(-1), ...bson(document)],
    requestId,
  );
}
