/**
 * OP_MSG: the message that carries every command and every reply.
 *
 *     header │ flags int32 │ section … section │ checksum uint32, if flagged
 *
 *     kind 0:  00 │ document                                       the command; exactly one
 *     kind 1:  01 │ size int32 │ "documents\0" │ document document  a document sequence; any number
 *
 * An insert of three documents is the command `{insert: "loans", $db: "library"}`
 * in a kind 0 section and the documents in a kind 1 section named `documents`.
 * The sections come in any order. `size` counts itself, the name and the
 * documents.
 *
 * Flags: bit 0 `checksumPresent`, bit 1 `moreToCome` (no reply wanted), bit 16
 * `exhaustAllowed` (we may ignore it). Of the others, bits 0–15 are required to
 * be understood: an unknown one ends the connection. Bits 16–31 are optional.
 */
import {
  asString,
  BsonError,
  BsonType,
  DocumentWriter,
  fields,
  firstField,
  getField,
  validateDocument,
} from "../bson/index.js";
import { checkDatabaseName, duplicateField } from "./command.js";
import { crc32c } from "./crc32c.js";
import type { Reply, Request } from "./endpoint.js";
import { CommandError, ErrorCode, wrongFieldType } from "./errors.js";
import type { MessageHeader } from "./header.js";
import {
  FramingError,
  HEADER_BYTES,
  int32At,
  MAX_INTERNAL_BYTES,
  MAX_MESSAGE_BYTES,
  OpCode,
  readHeader,
  setInt32,
  writeHeader,
} from "./header.js";
import type { IncomingRequest } from "./message.js";

const CHECKSUM_PRESENT = 1 << 0;
const MORE_TO_COME = 1 << 1;
const REQUIRED_BITS = 0xffff;
const NO_SEQUENCES: ReadonlyMap<string, readonly Uint8Array[]> = new Map();
const utf8 = new TextEncoder();
const utf8Strict = new TextDecoder("utf-8", { fatal: true });

/** The sections of one OP_MSG. */
interface Sections {
  readonly body: Uint8Array;
  readonly sequences: ReadonlyMap<string, readonly Uint8Array[]>;
}

/**
 * Reads an OP_MSG as a request.
 * @param message the whole message, slices of which end up in the request
 * @param header its header
 * @throws FramingError an unknown required flag, a wrong checksum, no room for flags
 */
export function parseOpMsg(message: Uint8Array, header: MessageHeader): IncomingRequest {
  const { flags, end } = readFlags(message);
  const noReply = (flags & MORE_TO_COME) !== 0;
  let content: Request | CommandError;
  try {
    content = toRequest(readSections(message, end), message.length <= MAX_INTERNAL_BYTES);
  } catch (error) {
    content = asCommandError(error);
  }
  return { requestId: header.requestId, answerWith: OpCode.msg, noReply, content };
}

function readFlags(message: Uint8Array): { flags: number; end: number } {
  if (message.length < HEADER_BYTES + 4) throw new FramingError("OP_MSG without flags");
  const flags = int32At(message, HEADER_BYTES);
  const unknown = flags & REQUIRED_BITS & ~(CHECKSUM_PRESENT | MORE_TO_COME);
  if (unknown !== 0)
    throw new FramingError(`OP_MSG has unknown required flag bits 0x${unknown.toString(16)}`);
  if ((flags & CHECKSUM_PRESENT) === 0) return { flags, end: message.length };
  const end = message.length - 4;
  if (end < HEADER_BYTES + 4) throw new FramingError("OP_MSG without room for its checksum");
  if (crc32c(message, 0, end) !== int32At(message, end) >>> 0) {
    throw new FramingError("OP_MSG checksum does not match its contents");
  }
  return { flags, end };
}

function readSections(message: Uint8Array, end: number): Sections {
  let body: Uint8Array | undefined;
  let sequences: Map<string, readonly Uint8Array[]> | undefined;
  let offset = HEADER_BYTES + 4;
  while (offset < end) {
    const kind = message[offset++] as number;
    if (kind === 0) {
      if (body) throw new CommandError(40430, "Multiple body sections in message");
      body = documentAt(message, offset, end);
      offset += body.length;
    } else if (kind === 1) {
      const size = offset + 4 <= end ? int32At(message, offset) : -1;
      if (size < 5 || offset + size > end) throw invalidBson(`document sequence of ${size} bytes`);
      const [name, documents] = readSequence(message, offset + 4, offset + size);
      sequences ??= new Map();
      if (sequences.has(name)) throw new CommandError(40431, `Duplicate document sequence: ${name}`);
      sequences.set(name, documents);
      offset += size;
    } else {
      throw new CommandError(40432, `Unknown section kind ${kind}`);
    }
  }
  if (!body) throw new CommandError(40587, "OP_MSG messages must have a body");
  return { body, sequences: sequences ?? NO_SEQUENCES };
}

function readSequence(message: Uint8Array, start: number, end: number): [string, readonly Uint8Array[]] {
  const nul = message.indexOf(0, start);
  if (nul < 0 || nul >= end) throw invalidBson("document sequence without an end of its name");
  const documents: Uint8Array[] = [];
  for (let offset = nul + 1; offset < end;) {
    const document = documentAt(message, offset, end);
    documents.push(document);
    offset += document.length;
  }
  return [utf8Strict.decode(message.subarray(start, nul)), documents];
}

/** The document that starts at `offset`, checked, as a slice. */
export function documentAt(message: Uint8Array, offset: number, end: number): Uint8Array {
  const length = offset + 4 <= end ? int32At(message, offset) : 0;
  if (length < 5 || offset + length > end) {
    throw invalidBson(`document of ${length} bytes where ${end - offset} remain`);
  }
  const document = message.subarray(offset, offset + length);
  validateDocument(document);
  return document;
}

function toRequest({ body, sequences }: Sections, small: boolean): Request {
  const command = firstField(body)?.[0] ?? "";
  const db = getField(body, "$db");
  if (!db) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${command}.$db' is missing but a required field`,
    );
  }
  if (db.type !== BsonType.string) {
    throw wrongFieldType(`${command}.$db`, "string", db);
  }
  const name = asString(db);
  checkDatabaseName(name);
  for (const sequence of sequences.keys()) {
    if (getField(body, sequence)) throw duplicateField(sequence);
  }
  return { db: name, command, body, sequences, checked: true, small };
}

/** What a client may be told about a message that could not be read. */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof BsonError) return new CommandError(error.code, error.message);
  return invalidBson(error instanceof Error ? error.message : String(error));
}

function invalidBson(what: string): CommandError {
  return new CommandError(ErrorCode.InvalidBSON, `invalid BSON in the message: ${what}`);
}

/**
 * Writes a reply as OP_MSG.
 * @param requestId number of this message
 * @param responseTo number of the request
 * @returns the bytes in order, in pieces so that a large reply is not copied
 */
export function encodeMsgReply(reply: Reply, requestId: number, responseTo: number): Uint8Array[] {
  return encodeSections(reply.body, NO_SEQUENCES, requestId, responseTo);
}

/**
 * Writes a request as OP_MSG, with its document sequences as kind 1 sections and `$db` as the
 * request says.
 * @returns the bytes in order; pieces where that saves copying a large command
 * @throws CommandError InvalidLength (16) beyond {@link MAX_MESSAGE_BYTES}
 */
export function encodeMsgRequest(request: Request, requestId: number): Uint8Array[] {
  return encodeSections(withDatabase(request), request.sequences, requestId, 0);
}

/** The command document with exactly one `$db`, which names the request's database. */
function withDatabase(request: Request): Uint8Array {
  const db = getField(request.body, "$db");
  if (db?.type === BsonType.string && asString(db) === request.db) return request.body;
  const writer = new DocumentWriter();
  if (!db) writer.fieldsOf(request.body);
  else for (const [name, value] of fields(request.body)) if (name !== "$db") writer.field(name, value);
  return writer.string("$db", request.db).finish();
}

/** Below this size one buffer is cheaper than several pieces. */
const COPY_BELOW = 16 * 1024;

function encodeSections(
  body: Uint8Array,
  sequences: ReadonlyMap<string, readonly Uint8Array[]>,
  requestId: number,
  responseTo: number,
): Uint8Array[] {
  const head = new Uint8Array(HEADER_BYTES + 5);
  const pieces: Uint8Array[] = [head, body];
  let length = head.length + body.length;
  for (const [name, documents] of sequences) {
    const label = utf8.encode(name);
    const start = new Uint8Array(1 + 4 + label.length + 1);
    let size = start.length - 1;
    pieces.push(start);
    for (const document of documents) {
      size += document.length;
      pieces.push(document);
    }
    start[0] = 1;
    setInt32(start, 1, size);
    start.set(label, 5);
    length += 1 + size;
  }
  if (length > MAX_MESSAGE_BYTES) {
    throw new CommandError(
      ErrorCode.InvalidLength,
      `a message of ${length} bytes exceeds the limit of ${MAX_MESSAGE_BYTES} bytes`,
    );
  }
  writeHeader(head, { length, requestId, responseTo, opCode: OpCode.msg });
  return length <= COPY_BELOW || pieces.length > 2 ? [concat(pieces, length)] : pieces;
}

/** All pieces in one buffer. */
function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}

/**
 * Reads a message that answers a request of ours.
 * @returns the request it answers and the reply; the document is a slice of `message`
 * @throws FramingError when it is no OP_MSG reply with one well-formed document
 */
export function parseMsgReply(message: Uint8Array): { responseTo: number; reply: Reply } {
  const header = readHeader(message);
  if (header.opCode !== OpCode.msg) throw new FramingError(`reply with opcode ${header.opCode}`);
  const { end } = readFlags(message);
  try {
    return { responseTo: header.responseTo, reply: { body: readSections(message, end).body } };
  } catch (error) {
    throw new FramingError(`unreadable reply: ${asCommandError(error).message}`);
  }
}
