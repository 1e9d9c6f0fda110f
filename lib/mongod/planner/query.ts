/** What a plan is made for: the parts of a find, and of the finds inside other commands. */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  EMPTY_DOCUMENT,
  fields,
  isNumeric,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, Filter, Sort } from "../../query/index.js";
import { compileFilter, compileProjection, compileSort } from "../../query/index.js";

/** Which index to use, or the collection itself. */
export type Hint =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "key"; readonly keyPattern: Uint8Array }
  | { readonly kind: "natural"; readonly backward: boolean };

/** A read to be planned. */
export interface Query {
  readonly filter: Filter;
  /** The filter as it came. */
  readonly filterDocument: Uint8Array;
  readonly sort?: { readonly pattern: Uint8Array; readonly compiled: Sort };
  readonly projection?: {
    readonly spec: Uint8Array;
    readonly apply: (document: Uint8Array) => Uint8Array;
  };
  /** `let`, collation, clock: what the filter and the projection were compiled with. */
  readonly options: ExpressionOptions;
  readonly skip: number;
  /** 0: none. */
  readonly limit: number;
  readonly hint?: Hint;
  /** Lower end of the hinted index's keys, inclusive. */
  readonly min?: Uint8Array;
  /** Upper end of the hinted index's keys, exclusive. */
  readonly max?: Uint8Array;
}

/** The parts of a query as they come in commands, raw. */
export interface QueryParts {
  readonly filter?: Uint8Array | undefined;
  readonly sort?: Uint8Array | undefined;
  readonly projection?: Uint8Array | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly hint?: RawValue | undefined;
  readonly min?: Uint8Array | undefined;
  readonly max?: Uint8Array | undefined;
}

/**
 * Compiles the parts of a query.
 * @param options see {@link expressionOptions}
 * @throws CommandError whatever is wrong with one of them
 */
export function compileQuery(parts: QueryParts, options: ExpressionOptions = {}): Query {
  const filterDocument = parts.filter ?? EMPTY_DOCUMENT;
  const filter = compileFilter(filterDocument, options);
  let hint = parseHint(parts.hint);
  let sort: Query["sort"];
  if (parts.sort && !isEmpty(parts.sort)) {
    const natural = naturalSort(parts.sort);
    if (natural) hint ??= natural;
    else sort = { pattern: parts.sort, compiled: compileSort(parts.sort) };
  }
  return {
    filter,
    filterDocument,
    options,
    ...(sort && { sort }),
    ...(parts.projection &&
      !isEmpty(parts.projection) && {
        projection: { spec: parts.projection, apply: compileProjection(parts.projection) },
      }),
    skip: parts.skip ?? 0,
    limit: parts.limit ?? 0,
    ...(hint && { hint }),
    ...(parts.min && !isEmpty(parts.min) && { min: parts.min }),
    ...(parts.max && !isEmpty(parts.max) && { max: parts.max }),
  };
}

/** Whether a document has no fields. */
export function isEmpty(document: Uint8Array): boolean {
  return document.length === 5;
}

/** `{$natural: ±1}`, in a hint or a sort, means the collection itself. */
function naturalSort(document: Uint8Array): Hint | undefined {
  const [first, second] = fields(document);
  if (first?.[0] !== "$natural") return undefined;
  if (second)
    throw new CommandError(ErrorCode.BadValue, "Cannot include '$natural' in compound sort: $natural");
  if (!isNumeric(first[1]) || Math.abs(asNumber(first[1])) !== 1)
    throw new CommandError(ErrorCode.BadValue, "$natural sort cannot be set to a value other than -1 or 1.");
  return { kind: "natural", backward: asNumber(first[1]) < 0 };
}

function parseHint(hint: RawValue | undefined): Hint | undefined {
  if (hint === undefined) return undefined;
  if (hint.type === BsonType.string) {
    const name = asString(hint);
    return name === "" ? undefined : { kind: "name", name };
  }
  if (hint.type !== BsonType.object) {
    throw new CommandError(ErrorCode.FailedToParse, "Hint must be a string or an object");
  }
  const keyPattern = asDocument(hint);
  if (isEmpty(keyPattern)) return undefined;
  return naturalSort(keyPattern) ?? { kind: "key", keyPattern };
}
