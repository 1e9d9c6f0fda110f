/** How the error of one write of a batch is spelt in a reply. */
import type { RawValue } from "../bson/index.js";
import { type DocumentWriter, encodeValue } from "../bson/index.js";
import type { CommandError } from "./errors.js";

/** Messages longer than this are left out from the third error on, so that a reply stays small. */
const LONG_MESSAGE = 1024 * 1024;

/**
 * Appends what an error says: `code`, `errmsg`, and what belongs to the code, like `keyPattern` or `errInfo`.
 * @param before how many errors the reply has already
 * @param details of the error, where they are not its `extra`
 */
export function writeErrorFields(
  writer: DocumentWriter,
  { code, message, extra }: CommandError,
  before: number,
  details: Readonly<Record<string, unknown>> = extra,
): DocumentWriter {
  writer.int32("code", code).string("errmsg", before > 1 && message.length > LONG_MESSAGE ? "" : message);
  for (const [name, value] of Object.entries(details)) {
    if (value instanceof Uint8Array) writer.document(name, value);
    else if (isRawValue(value)) writer.field(name, value);
    else if (value !== undefined) writer.field(name, encodeValue(value));
  }
  return writer;
}

/** Whether a detail of an error is a raw value, to be written as it is. */
export function isRawValue(value: unknown): value is RawValue {
  return (
    typeof value === "object" && value !== null && "bytes" in value && "start" in value && "end" in value
  );
}
