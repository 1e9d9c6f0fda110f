/** Writes of `$out` and `$merge` on one shard: what of a reply counts. */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  elements,
  fields,
  getField,
  isNumeric,
} from "../../../bson/index.js";
import type { Reply } from "../../../protocol/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";

/** Fields of a write error that the error itself has. */
const OWN: ReadonlySet<string> = new Set(["index", "code", "errmsg"]);

/** The first write error of a successful reply as the failure of the whole command. */
export function firstWriteError({ body }: Reply): CommandError | undefined {
  const list = getField(body, "writeErrors");
  if (list?.type !== BsonType.array) return undefined;
  const [first] = elements(asDocument(list));
  if (!first) return undefined;
  const error = asDocument(first);
  const code = getField(error, "code");
  const message = getField(error, "errmsg");
  const extra = Object.fromEntries(fields(error).filter(([name]) => !OWN.has(name)));
  return new CommandError(
    code && isNumeric(code) ? asNumber(code) : ErrorCode.UnknownError,
    message?.type === BsonType.string ? asString(message) : "a write failed",
    extra,
  );
}

/**
 * Whether a document has an empty timestamp among its own fields. An insert would put the time in its place; what
 * `$out` and `$merge` write exists already and stays as it is. Servers before 8.0 don't know the option for it, so it
 * is sent only where it matters.
 */
export function hasEmptyTimestamp(documents: readonly Uint8Array[]): boolean {
  return documents.some((each) =>
    fields(each).some(
      ([, value]) =>
        value.type === BsonType.timestamp &&
        value.bytes.subarray(value.start, value.end).every((b) => b === 0),
    ),
  );
}
