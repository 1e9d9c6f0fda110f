/**
 * A message on the wire: sixteen bytes of header and what its opcode says.
 *
 *     ┌ length ┬ requestId ┬ responseTo ┬ opCode ┬ …          four little-endian int32
 *     │  61    │  7        │  0         │ 2013   │ sections
 *
 * Three opcodes matter today. Drivers open a connection with an OP_QUERY that
 * asks `hello` and is answered by an OP_REPLY; everything afterwards is OP_MSG,
 * both ways (opMsg.ts, opQuery.ts).
 *
 * Two kinds of trouble are kept apart here, because only one of them is the end
 * of a connection:
 *
 * - **Bad framing** ({@link FramingError}): the stream of bytes can't be
 *   trusted any more, or asks for a protocol we were never offered. A length
 *   below 16 or above 48,000,000, an unknown opcode, compression, a required
 *   flag that nobody knows, a wrong checksum. The server closes that connection.
 * - **A bad message in good framing**: we know where it ends and the next one
 *   starts. Broken BSON, an unknown section, a missing `$db` get an error reply.
 *
 * This file and its neighbours know bytes only: no sockets, nothing from Node.
 */
/** Largest message, header included, in bytes; `hello` reports it as `maxMessageSizeBytes`. */
export const MAX_MESSAGE_BYTES = 48_000_000;

/** Largest document a client may store, in bytes; `hello` reports it as `maxBsonObjectSize`. */
export const MAX_BSON_OBJECT_BYTES = 16 * 1024 * 1024;

/** Largest document in a message, in bytes: a stored one, and a little room for what the protocol adds. */
export const MAX_INTERNAL_BYTES = MAX_BSON_OBJECT_BYTES + 16 * 1024;

/** Most statements in one write command; `hello` reports it as `maxWriteBatchSize`. */
export const MAX_WRITE_BATCH = 100_000;

/** Length of a message header in bytes. */
export const HEADER_BYTES = 16;

/** Opcodes by their names in the wire protocol. */
export const OpCode = { reply: 1, query: 2004, getMore: 2005, compressed: 2012, msg: 2013 } as const;

/** The bytes of a connection can't be understood any more: close it. */
export class FramingError extends Error {
  override readonly name = "FramingError";

  /** @param farewell bytes for the client before the connection ends */
  constructor(
    message: string,
    readonly farewell?: Uint8Array,
  ) {
    super(message);
  }
}

/** What a browser gets that was pointed at the port. */
const HTTP_ANSWER = new TextEncoder().encode(
  "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 85\r\n\r\n" +
    "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n",
);
/** `GET ` as a length. */
const HTTP_GET = 0x20544547;

/** The fixed head of every message. */
export interface MessageHeader {
  /** Whole message in bytes, this header included. */
  readonly length: number;
  readonly requestId: number;
  /** The `requestId` this message answers; 0 in a request. */
  readonly responseTo: number;
  readonly opCode: number;
}

/**
 * Reads the length of the message that starts at `offset`.
 * @throws FramingError below 16 or above {@link MAX_MESSAGE_BYTES}.
 */
export function messageLength(bytes: Uint8Array, offset = 0): number {
  const length = int32At(bytes, offset);
  if (length === HTTP_GET) throw new FramingError("HTTP on the port of the wire protocol", HTTP_ANSWER);
  if (length < HEADER_BYTES || length > MAX_MESSAGE_BYTES) {
    throw new FramingError(
      `message length ${length} is not between ${HEADER_BYTES} and ${MAX_MESSAGE_BYTES}`,
    );
  }
  return length;
}

/** Reads the header of a whole message. */
export function readHeader(message: Uint8Array): MessageHeader {
  return {
    length: messageLength(message),
    requestId: int32At(message, 4),
    responseTo: int32At(message, 8),
    opCode: int32At(message, 12),
  };
}

/** Writes a header into the first sixteen bytes of `bytes`. */
export function writeHeader(bytes: Uint8Array, header: MessageHeader): void {
  setInt32(bytes, 0, header.length);
  setInt32(bytes, 4, header.requestId);
  setInt32(bytes, 8, header.responseTo);
  setInt32(bytes, 12, header.opCode);
}

/** The little-endian int32 at `offset`. */
export function int32At(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] ?? 0) |
    ((bytes[offset + 1] ?? 0) << 8) |
    ((bytes[offset + 2] ?? 0) << 16) |
    ((bytes[offset + 3] ?? 0) << 24)
  );
}

/** Writes a little-endian int32 at `offset`. */
export function setInt32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value;
  bytes[offset + 1] = value >>> 8;
  bytes[offset + 2] = value >>> 16;
  bytes[offset + 3] = value >>> 24;
}
