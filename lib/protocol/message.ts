/**
 * From the bytes of one message to a request, and from a reply back to bytes.
 *
 * What a message looks like is told in header.ts (all of them), opMsg.ts and
 * opQuery.ts; this file only chooses between them.
 */
import type { Reply, Request } from "./endpoint.js";
import type { CommandError } from "./errors.js";
import { FramingError, OpCode, readHeader } from "./header.js";
import { encodeMsgReply, parseOpMsg } from "./opMsg.js";
import { encodeQueryFailure, encodeQueryReply, parseOpGetMore, parseOpQuery } from "./opQuery.js";

/** A request as it was found in a message. */
export interface IncomingRequest {
  readonly requestId: number;
  /** The opcode to answer with: OP_MSG to OP_MSG, OP_REPLY to OP_QUERY. */
  readonly answerWith: typeof OpCode.msg | typeof OpCode.reply;
  /** The client asked for no reply (`moreToCome`: writes with w:0, endSessions). */
  readonly noReply: boolean;
  /** What to run, or the error that the reply must carry. */
  readonly content: Request | CommandError;
  /** It was a query or getMore of the protocol of 2010: a failure has the shape of those days. */
  readonly legacyRead?: boolean;
}

/** Opcodes that ended with MongoDB 5.1. */
const GONE: ReadonlyMap<number, string> = new Map([
  [2001, "OP_UPDATE"],
  [2002, "OP_INSERT"],
  [2006, "OP_DELETE"],
  [2007, "OP_KILL_CURSORS"],
]);

/**
 * Reads one whole message as a request. The request's documents are slices of `message`, and
 * every one of them has been checked to be well-formed BSON: nobody further in has to.
 * @param message exactly one message
 * @throws FramingError when the connection must be closed.
 */
export function parseRequest(message: Uint8Array): IncomingRequest {
  const header = readHeader(message);
  if (header.length !== message.length) {
    throw new FramingError(`message says ${header.length} bytes and has ${message.length}`);
  }
  switch (header.opCode) {
    case OpCode.msg:
      return parseOpMsg(message, header);
    case OpCode.query:
      return parseOpQuery(message, header);
    case OpCode.getMore:
      return parseOpGetMore(header);
    case OpCode.compressed:
      throw new FramingError("OP_COMPRESSED was not negotiated: this server offers no compression");
    default: {
      // Writes of the protocol of 2010 had no replies; nobody would read why they are refused.
      const name = GONE.get(header.opCode);
      throw new FramingError(name ? `${name} is no longer supported` : `unknown opcode ${header.opCode}`);
    }
  }
}

/**
 * Writes a reply in the protocol its request came in.
 * @param reply what to answer
 * @param to the request as {@link parseRequest} read it
 * @param requestId number of this message
 * @returns the bytes in order, in pieces so that a large reply is not copied
 */
export function encodeReply(reply: Reply, to: IncomingRequest, requestId: number): Uint8Array[] {
  if (to.legacyRead) return encodeQueryFailure(reply, requestId, to.requestId);
  const encode = to.answerWith === OpCode.msg ? encodeMsgReply : encodeQueryReply;
  return encode(reply, requestId, to.requestId);
}
