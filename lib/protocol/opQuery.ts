/**
 * OP_QUERY and OP_REPLY: the handshake of every driver, in the protocol of 2010.
 *
 *     OP_QUERY   header │ flags │ "admin.$cmd\0" │ skip │ return │ {ismaster: 1, helloOk: true}
 *     OP_REPLY   header │ flags │ cursorId int64 │ from │ count  │ {…, ok: 1}
 *
 * A driver does not know yet whether the server speaks OP_MSG, so it asks with
 * what every server ever understood. Since MongoDB 5.1 that is all it may ask:
 * the commands of a handshake. Other commands are refused by name (352), and
 * queries for documents with the words of those days (`$err`), which is what
 * somebody with a driver of those days gets to see.
 */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  DocumentWriter,
  firstField,
  getField,
} from "../bson/index.js";
import { checkDatabaseName, request } from "./command.js";
import type { Reply, Request } from "./endpoint.js";
import { CommandError, ErrorCode } from "./errors.js";
import type { MessageHeader } from "./header.js";
import { FramingError, HEADER_BYTES, OpCode, setInt32, writeHeader } from "./header.js";
import type { IncomingRequest } from "./message.js";
import { asCommandError, documentAt } from "./opMsg.js";

const COMMAND_SUFFIX = ".$cmd";
const REPLY_HEAD_BYTES = HEADER_BYTES + 20;
/** The server can answer to awaitData; set in every OP_REPLY since 1.6. */
const AWAIT_CAPABLE = 1 << 3;
/** The one document is a failure. */
const QUERY_FAILURE = 1 << 1;
const UPGRADE =
  "The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal";
const LEGACY_OPCODE = 5739101;
/** What may be asked before the protocol is agreed on. */
const HANDSHAKE: ReadonlySet<string> = new Set([
  "hello",
  "isMaster",
  "ismaster",
  "_isSelf",
  "authenticate",
  "buildInfo",
  "buildinfo",
  "saslContinue",
  "saslStart",
]);
const utf8Strict = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads an OP_QUERY on `<db>.$cmd` as a request.
 * @throws FramingError when it has no namespace
 */
export function parseOpQuery(message: Uint8Array, header: MessageHeader): IncomingRequest {
  const start = HEADER_BYTES + 4;
  const nul = message.indexOf(0, start);
  if (nul < 0) throw new FramingError("OP_QUERY without a namespace");
  const { requestId } = header;
  let content: Request | CommandError;
  try {
    const namespace = utf8Strict.decode(message.subarray(start, nul));
    if (!namespace.endsWith(COMMAND_SUFFIX)) return refused("OP_QUERY", requestId);
    content = toRequest(namespace, message, nul + 9);
  } catch (error) {
    content = asCommandError(error);
  }
  return { requestId, answerWith: OpCode.reply, noReply: false, content };
}

/** Reads an OP_GET_MORE: there is no cursor that it could mean. */
export function parseOpGetMore(header: MessageHeader): IncomingRequest {
  return refused("OP_GET_MORE", header.requestId);
}

function refused(opCode: string, requestId: number): IncomingRequest {
  const content = new CommandError(LEGACY_OPCODE, `${opCode} is no longer supported. ${UPGRADE}`);
  return { requestId, answerWith: OpCode.reply, noReply: false, content, legacyRead: true };
}

function toRequest(namespace: string, message: Uint8Array, offset: number): Request {
  const db = namespace.slice(0, -COMMAND_SUFFIX.length);
  checkDatabaseName(db);
  const command = request(db, unwrap(documentAt(message, offset, message.length)));
  if (!HANDSHAKE.has(command.command)) {
    throw new CommandError(
      ErrorCode.UnsupportedOpQueryCommand,
      `Unsupported OP_QUERY command: ${command.command}. ${UPGRADE}`,
    );
  }
  return command;
}

/** The command inside `{$query: {…}, $readPreference: {…}}`, as old drivers send it. */
function unwrap(document: Uint8Array): Uint8Array {
  const [name, value] = firstField(document) ?? [];
  const wrapped = name === "$query" || name === "query";
  return wrapped && value?.type === BsonType.object ? asDocument(value) : document;
}

/** Writes a reply as OP_REPLY with one document. */
export function encodeQueryReply(reply: Reply, requestId: number, responseTo: number): Uint8Array[] {
  return encodeReply(reply.body, AWAIT_CAPABLE, requestId, responseTo);
}

/** Writes the failure of a read of those days: `{$err, code, ok: 0}` under a flag that says so. */
export function encodeQueryFailure(reply: Reply, requestId: number, responseTo: number): Uint8Array[] {
  const [message, code] = [getField(reply.body, "errmsg"), getField(reply.body, "code")];
  const body = new DocumentWriter()
    .string("$err", message ? asString(message) : "")
    .int32("code", code ? asNumber(code) : ErrorCode.UnknownError)
    .double("ok", 0)
    .finish();
  return encodeReply(body, QUERY_FAILURE, requestId, responseTo);
}

function encodeReply(body: Uint8Array, flags: number, requestId: number, responseTo: number): Uint8Array[] {
  const bytes = new Uint8Array(REPLY_HEAD_BYTES + body.length);
  writeHeader(bytes, { length: bytes.length, requestId, responseTo, opCode: OpCode.reply });
  setInt32(bytes, HEADER_BYTES, flags);
  setInt32(bytes, HEADER_BYTES + 16, 1);
  bytes.set(body, REPLY_HEAD_BYTES);
  return [bytes];
}
