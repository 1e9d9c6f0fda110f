/**
 * `writeConcernError` of a command that wrote on several shards.
 *
 * The writes have happened; a shard only says that they are not as safe as the
 * client wanted. A mongos reports one error with the shard's name behind its
 * text, and several as one error of code 64 that quotes them all.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  DocumentWriter,
  forEachField,
  getField,
} from "../../bson/index.js";
import { codeName, ErrorCode } from "../../protocol/index.js";

interface ConcernError {
  readonly document: Uint8Array;
  readonly shard: string | undefined;
}

/** What shards say about the write concern; one error a shard. */
export class ConcernErrors {
  readonly #errors: ConcernError[] = [];

  /**
   * Adds a reply's `writeConcernError`.
   * @param shard who says so; undefined where its name is in the text already
   */
  add(value: RawValue | undefined, shard: string | undefined): void {
    if (value?.type !== BsonType.object) return;
    if (shard !== undefined && this.#errors.some((error) => error.shard === shard)) return;
    this.#errors.push({ document: asDocument(value).slice(), shard });
  }

  /** Appends `writeConcernError` to a reply, if there is one. */
  writeTo(writer: DocumentWriter): void {
    const [first, ...more] = this.#errors;
    if (!first) return;
    const error = new DocumentWriter();
    if (more.length === 0) {
      forEachField(first.document, (name, value) => {
        if (name === "errmsg") error.string(name, textOf(first));
        else error.field(name, value);
      });
    } else {
      const text = this.#errors.map((each) => `${nameOf(each)}: ${textOf(each)}`).join(" :: and :: ");
      error
        .int32("code", ErrorCode.WriteConcernFailed)
        .string("codeName", codeName(ErrorCode.WriteConcernFailed))
        .string("errmsg", `multiple errors reported : ${text}`);
    }
    writer.document("writeConcernError", error.finish());
  }
}

function textOf({ document, shard }: ConcernError): string {
  const message = getField(document, "errmsg");
  const text = message?.type === BsonType.string ? asString(message) : "";
  return shard === undefined ? text : `${text} at ${shard}`;
}

function nameOf({ document }: ConcernError): string {
  const code = getField(document, "code");
  return codeName(code ? asNumber(code) : ErrorCode.UnknownError);
}
