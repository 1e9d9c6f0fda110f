/**
 * OP_QUERY and OP_REPLY: the handshake of every driver, in the protocol of 2010.
 *
 *     OP_QUERY   header │ flags │ "admin.$cmd\0" │ skip │ return │ {ismaster: 1, helloOk: true}
 *     OP_REPLY   header │ flags │ cursorId int64 │ from │ count  │ {…, ok: 1}
 *
 * A driver does not know yet whether the server speaks OP_MSG, so it asks with
 * what every server ever understood. Commands only: since MongoDB 5.1 a query
 * for documents through OP_QUERY is refused, and so it is here.
 */
import { asDocument, BsonType, firstField } from "../bson/index.js";
import { checkDatabaseName, request } from "./command.js";
import type { Reply, Request } from "./endpoint.js";
import { CommandError } from "./errors.js";
import type { MessageHeader } from "./header.js";
import { FramingError, HEADER_BYTES, OpCode, setInt32, writeHeader } from "./header.js";
import type { IncomingRequest } from "./message.js";
import { asCommandError, documentAt } from "./opMsg.js";

const COMMAND_SUFFIX = ".$cmd";
const REPLY_HEAD_BYTES = HEADER_BYTES + 20;
/** The server can answer to awaitData; set in every OP_REPLY since 1.6. */
const AWAIT_CAPABLE = 1 << 3;
const utf8Strict = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads an OP_QUERY on `<db>.$cmd` as a request.
 * @throws FramingError when it has no namespace
 */
export function parseOpQuery(message: Uint8Array, header: MessageHeader): IncomingRequest {
  const start = HEADER_BYTES + 4;
  const nul = message.indexOf(0, start);
  if (nul < 0) throw new FramingError("OP_QUERY without a namespace");
  let content: Request | CommandError;
  try {
    content = toRequest(utf8Strict.decode(message.subarray(start, nul)), message, nul + 9);
  } catch (error) {
    content = asCommandError(error);
  }
  return { requestId: header.requestId, answerWith: OpCode.reply, noReply: false, content };
}

function toRequest(namespace: string, message: Uint8Array, offset: number): Request {
  if (!namespace.endsWith(COMMAND_SUFFIX)) {
    throw new CommandError(
      5739101,
      `OP_QUERY on ${namespace} is no longer supported, send the find command as OP_MSG`,
    );
  }
  const db = namespace.slice(0, -COMMAND_SUFFIX.length);
  checkDatabaseName(db);
  return request(db, unwrap(documentAt(message, offset, message.length)));
}

/** The command inside `{$query: {…}, $readPreference: {…}}`, as old drivers send it. */
function unwrap(document: Uint8Array): Uint8Array {
  const [name, value] = firstField(document) ?? [];
  const wrapped = name === "$query" || name === "query";
  return wrapped && value?.type === BsonType.object ? asDocument(value) : document;
}

/** Writes a reply as OP_REPLY with one document. */
export function encodeQueryReply(reply: Reply, requestId: number, responseTo: number): Uint8Array[] {
  const bytes = new Uint8Array(REPLY_HEAD_BYTES + reply.body.length);
  writeHeader(bytes, { length: bytes.length, requestId, responseTo, opCode: OpCode.reply });
  setInt32(bytes, HEADER_BYTES, AWAIT_CAPABLE);
  setInt32(bytes, HEADER_BYTES + 16, 1);
  bytes.set(reply.body, REPLY_HEAD_BYTES);
  return [bytes];
}
