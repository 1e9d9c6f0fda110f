import type { RawValue } from "../../bson/index.js";
import {
  arrayDocument,
  asDocument,
  asString,
  BsonType,
  describeDocument,
  document,
  DocumentWriter,
  fields,
  NULL,
  string,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { IndexSpec } from "./indexSpec.js";

/** E11000: another document has this key in a unique index. */
export class DuplicateKeyError extends CommandError {
  override readonly name = "DuplicateKeyError";

  /**
   * What a reply says beside the message: `keyPattern`, `keyValue`; in an index with a collation, whose strings are
   * collation keys, also `collation` and `hexEncoded` (by field: whether it is such a key).
   */
  readonly details: Readonly<Record<string, unknown>>;

  /**
   * @param keyValue the offending key, raw: field path → value (null where missing)
   * @param context what it was the cause of, e.g. `Index build failed`
   * @example E11000 duplicate key error collection: library.loans index: book_1 dup key: { book: 7 }
   */
  constructor(
    private readonly namespace: string,
    private readonly spec: IndexSpec,
    private readonly keyValue: Uint8Array,
    context?: string,
  ) {
    const collation = spec.collation?.spec;
    super(
      ErrorCode.DuplicateKey,
      `${context === undefined ? "" : `${context} :: caused by :: `}E11000 duplicate key error` +
        ` collection: ${namespace} index: ${spec.name}` +
        (collation ? ` collation: ${describeDocument(collation)}` : "") +
        ` dup key: ${describeDocument(keyValue)}`,
    );
    this.details = {
      keyPattern: spec.keyPattern,
      keyValue,
      ...(collation && {
        collation,
        hexEncoded: fields(keyValue).map(([, value]) => value.type === BsonType.string),
      }),
    };
  }

  /** @param values the values of the index's fields; undefined where missing */
  static of(
    namespace: string,
    spec: IndexSpec,
    values: readonly (RawValue | undefined)[],
  ): DuplicateKeyError {
    const writer = new DocumentWriter();
    spec.fields.forEach(({ path }, i) => writer.field(path, shown(values[i] ?? NULL, spec)));
    return new DuplicateKeyError(namespace, spec, writer.finish());
  }

  /** The same failure as the cause of another one. */
  inContext(context: string): DuplicateKeyError {
    return new DuplicateKeyError(this.namespace, this.spec, this.keyValue, context);
  }
}

/** A value as the index holds it: in an index with a collation, strings are there as keys of that order. */
function shown(value: RawValue, spec: IndexSpec): RawValue {
  const { collation } = spec;
  if (!collation) return value;
  switch (value.type) {
    case BsonType.string: {
      const key = collation.key(asString(value));
      const hex = Array.from(key, (char) => char.charCodeAt(0).toString(16).padStart(2, "0")).join("");
      return string(`CollationKey(0x${hex})`);
    }
    case BsonType.object:
    case BsonType.array: {
      const writer = new DocumentWriter();
      for (const [name, inner] of fields(asDocument(value))) writer.field(name, shown(inner, spec));
      return value.type === BsonType.object ? document(writer.finish()) : arrayDocument(writer.finish());
    }
    default:
      return value;
  }
}
