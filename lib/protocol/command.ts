/**
 * Reading a command and its reply without decoding either.
 *
 * A driver may send the documents of a write in two ways that mean the same:
 * as an array field of the command, or as a document sequence beside it.
 *
 *     {insert: "loans", documents: [{…}, {…}], $db: "library"}
 *     {insert: "loans", $db: "library"}  +  sequence documents: {…}, {…}
 *
 * {@link documentsOf} hides the difference; everything it returns is a slice of
 * the message as it arrived.
 */
import type { RawValue } from "../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  elements,
  firstField,
  fromDocument,
  getField,
  isNumeric,
  isTruthy,
  nameOfType,
  toDocument,
} from "../bson/index.js";
import type { ClientInfo, Reply, Request } from "./endpoint.js";
import { CommandError, ErrorCode, wrongFieldType } from "./errors.js";

const NO_SEQUENCES: ReadonlyMap<string, readonly Uint8Array[]> = new Map();

/**
 * Builds a request for an in-process caller.
 * @param db the database the command runs in
 * @param command the command, its name first; an object or raw BSON
 * @param sequences document sequences by name, e.g. `{documents: […]}`
 * @param client the connection this request is made for, where there is one
 */
export function request(
  db: string,
  command: object | Uint8Array,
  sequences?: Readonly<Record<string, readonly Uint8Array[]>>,
  client?: ClientInfo,
): Request {
  const body = command instanceof Uint8Array ? command : toDocument(command);
  return {
    db,
    command: firstField(body)?.[0] ?? "",
    body,
    sequences: sequences ? new Map(Object.entries(sequences)) : NO_SEQUENCES,
    ...(client && { client }),
  };
}

/** A field of the command document, or undefined. */
export function bodyField(request: Request, name: string): RawValue | undefined {
  return getField(request.body, name);
}

/**
 * The documents a command brings under `name`: its sequence of that name, else
 * the array field of that name.
 * @throws CommandError TypeMismatch (14) when the field is no array of documents,
 * IDLFailedToParse (40414) when there is neither, Location40433 when it came both ways.
 */
export function documentsOf(request: Request, name: string): readonly Uint8Array[] {
  const sequence = request.sequences.get(name);
  const field = bodyField(request, name);
  if (sequence) {
    if (field) {
      throw duplicateField(name);
    }
    return sequence;
  }
  if (!field) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${request.command}.${name}' is missing but a required field`,
    );
  }
  if (field.type !== BsonType.array) throw wrongType(request, name, "array", field);
  return elements(asDocument(field)).map((value, index) => {
    if (value.type !== BsonType.object) throw wrongType(request, `${name}.${index}`, "object", value);
    return asDocument(value);
  });
}

/** One argument sent both as a field and as a document sequence. */
export function duplicateField(name: string): CommandError {
  return new CommandError(40433, `Duplicate field between body and document sequence ${name}`);
}

function wrongType(request: Request, name: string, expected: string, found: RawValue): CommandError {
  return wrongFieldType(`${request.command}.${name}`, expected, found);
}

/** Characters no database name may hold. */
const BAD_DATABASE = /[/\\. "$]/;
const utf8 = new TextEncoder();

/** Whether a text has more than so many bytes of UTF-8, of which a UTF-16 unit takes one to three. */
function isLonger(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && utf8.encode(text).length > bytes);
}

/**
 * Checks a database name.
 * @throws CommandError InvalidNamespace (73): empty, 64 bytes or more, or one of `/ \ . " $`, space, NUL in it.
 */
export function checkDatabaseName(db: string): void {
  if (db === "" || BAD_DATABASE.test(db) || db.includes("\0") || isLonger(db, 63)) {
    throw new CommandError(ErrorCode.InvalidNamespace, `Invalid database name: '${db}'`);
  }
}

/** Commands that look at their namespace before their arguments: InvalidNamespace (73) where others say BadValue (2). */
const NAMESPACE_FIRST: ReadonlySet<string> = new Set(["count", "distinct", "validate"]);

/**
 * The namespace that the command's first element names: `library.loans`.
 * @throws CommandError BadValue (2) for a value that is no string, of some commands InvalidNamespace (73);
 * InvalidNamespace for a name that {@link checkNamespace} refuses.
 */
export function collectionNamespace(request: Request): string {
  const value = firstField(request.body)?.[1];
  if (value?.type !== BsonType.string && value?.type !== BsonType.symbol) {
    const isNumberToFind = request.command === "find" && value?.type === BsonType.int32;
    throw new CommandError(
      isNumberToFind || NAMESPACE_FIRST.has(request.command)
        ? ErrorCode.InvalidNamespace
        : ErrorCode.BadValue,
      `Collection name has invalid type ${value ? nameOfType(value.type) : "missing"}`,
    );
  }
  const collection = asString(value);
  checkNamespace(request.db, collection);
  return `${request.db}.${collection}`;
}

/**
 * Checks a database and a collection name.
 * @throws CommandError InvalidNamespace (73): a bad database name; a collection name that is empty,
 * starts with a dot or holds `$` or NUL; both together longer than 255 bytes.
 */
export function checkNamespace(db: string, collection: string): void {
  checkDatabaseName(db);
  const namespace = `${db}.${collection}`;
  if (
    collection === "" ||
    collection.startsWith(".") ||
    collection.includes("$") ||
    collection.includes("\0") ||
    isLonger(namespace, 255)
  ) {
    throw new CommandError(ErrorCode.InvalidNamespace, `Invalid namespace specified '${namespace}'`);
  }
}

/** The reply as plain JavaScript values, with the driver's default promotion. */
export function replyDocument(reply: Reply): Record<string, unknown> {
  return fromDocument(reply.body);
}

/** Whether the command succeeded. Write errors inside an `ok: 1` reply do not count as failure. */
export function isOk(reply: Reply): boolean {
  const ok = getField(reply.body, "ok");
  return ok !== undefined && isTruthy(ok);
}

/**
 * The decoded reply of a command that must have succeeded.
 * @throws CommandError with the reply's code, message and further fields.
 */
export function throwIfFailed(reply: Reply): Record<string, unknown> {
  if (!isOk(reply)) throw failureOf(reply);
  return replyDocument(reply);
}

/** The error that a failed reply stands for. */
export function failureOf(reply: Reply): CommandError {
  const extra = replyDocument(reply);
  const { errmsg } = extra;
  for (const name of ["ok", "errmsg", "code", "codeName"]) delete extra[name];
  const code = getField(reply.body, "code");
  return new CommandError(
    code && isNumeric(code) ? asNumber(code) : ErrorCode.UnknownError,
    typeof errmsg === "string" ? errmsg : "the command failed without a message",
    extra,
  );
}
