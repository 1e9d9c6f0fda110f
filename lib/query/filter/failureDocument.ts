/**
 * Builds the documents that say why a document failed validation.
 *
 * MongoDB's `errInfo.details` is a tree of documents in a fixed field order:
 * the operator, how it was specified, the reason, what was considered.
 *
 *     { operatorName: "minimum", specifiedAs: { minimum: 0 }, reason: "comparison failed", consideredValue: -5 }
 *
 * A report that would be too large is made again without the values that it
 * quotes ({@link Failures.brief}).
 *
 * @since MongoDB 5.0
 */
import { DocumentWriter, string, type RawValue } from "../../bson/index.js";
import { typeName } from "../values/types.js";

/** More values than these are not quoted. */
const MAX_CONSIDERED = 10;

export class Failures {
  /** Leaves out `specifiedAs` and the considered values. */
  readonly brief: boolean;

  constructor(brief = false) {
    this.brief = brief;
  }

  /** The beginning: operator and specification. */
  start(operator: string, specifiedAs?: Uint8Array): DocumentWriter {
    const writer = new DocumentWriter().string("operatorName", operator);
    if (specifiedAs !== undefined && !this.brief) writer.document("specifiedAs", specifiedAs);
    return writer;
  }

  /** A failure that quotes the one value it is about. */
  about(operator: string, specifiedAs: Uint8Array, reason: string, v: RawValue): DocumentWriter {
    return this.considered(this.start(operator, specifiedAs).string("reason", reason), [v]);
  }

  /** Appends `consideredValue` for one value, `consideredValues` for none or several. */
  considered(writer: DocumentWriter, values: readonly RawValue[]): DocumentWriter {
    if (this.brief) return writer;
    if (values.length === 1) return writer.field("consideredValue", values[0]!);
    writer.values("consideredValues", values.slice(0, MAX_CONSIDERED));
    return values.length > MAX_CONSIDERED ? writer.bool("consideredValuesTruncated", true) : writer;
  }
}

/** Appends the names of the values' types under `consideredType` or `consideredTypes`. */
export function consideredTypes(writer: DocumentWriter, values: readonly RawValue[]): DocumentWriter {
  return values.length === 0 ? writer : typeNames(writer, "consideredType", values.map(typeName));
}

/** Appends one type name as `field`, several, sorted, as `fields`. */
export function typeNames(writer: DocumentWriter, field: string, names: readonly string[]): DocumentWriter {
  const distinct = [...new Set(names)].sort();
  return distinct.length === 1
    ? writer.string(field, distinct[0]!)
    : writer.values(`${field}s`, distinct.map(string));
}

/** Appends title and description of a schema, where it has them. */
export function annotations(
  writer: DocumentWriter,
  schema: { readonly title: string | undefined; readonly description: string | undefined },
): DocumentWriter {
  if (schema.title !== undefined) writer.string("title", schema.title);
  if (schema.description !== undefined) writer.string("description", schema.description);
  return writer;
}

/** `{ name: value }`: how an operator was specified. */
export function specification(name: string, value: RawValue): Uint8Array {
  return new DocumentWriter().field(name, value).finish();
}
