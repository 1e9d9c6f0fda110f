/** What a plan is made for: the parts of a find, and of the finds inside other commands. */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  EMPTY_DOCUMENT,
  fields,
  getField,
  isEmptyDocument,
  isNumeric,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, Filter, Sort } from "../../query/index.js";
import { compileFilter, compileProjection, compileSort, usesMeta } from "../../query/index.js";

/** Which index to use, or the collection itself. */
export type Hint =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "key"; readonly keyPattern: Uint8Array }
  | { readonly kind: "natural"; readonly backward: boolean };

/** A projection, compiled. */
export interface QueryProjection {
  readonly spec: Uint8Array;
  readonly apply: (document: Uint8Array) => Uint8Array;
  /** It asks for `{$meta: …}`. */
  readonly usesMeta: boolean;
}

/** A read to be planned. */
export interface Query {
  readonly filter: Filter;
  /** The filter as it came. */
  readonly filterDocument: Uint8Array;
  readonly sort?: { readonly pattern: Uint8Array; readonly compiled: Sort };
  readonly projection?: QueryProjection;
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
  /** Give index keys instead of documents. */
  readonly returnKey?: boolean;
  /** Add `$recordId` to each document. */
  readonly showRecordId?: boolean;
  /** The cursor stays open at the end of a capped collection. */
  readonly tailable?: boolean;
  /** The client said how large its batches shall be. */
  readonly hasBatchSize?: boolean;
  /** Only the number of records matters (count), or their ids (writes). */
  readonly countLike?: boolean;
  /** For an update or delete: only an equality on `_id` is found the shortest way then. */
  readonly forWrite?: boolean;
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
  readonly returnKey?: boolean | undefined;
  readonly showRecordId?: boolean | undefined;
  readonly tailable?: boolean | undefined;
  readonly hasBatchSize?: boolean | undefined;
  readonly forWrite?: boolean | undefined;
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
  if (parts.sort && !isEmptyDocument(parts.sort)) {
    const natural = naturalOrder(parts.sort, "sort");
    if (!natural) sort = { pattern: parts.sort, compiled: compileSort(parts.sort, options) };
    else if (hint && !sameNatural(hint, natural)) throw sortHintConflict();
    else hint = natural;
  }
  const projection =
    parts.projection && !isEmptyDocument(parts.projection)
      ? compiledProjection(parts.projection, options, filter, sort !== undefined)
      : undefined;
  return {
    filter,
    filterDocument,
    options,
    ...(sort && { sort }),
    ...(projection && { projection }),
    skip: parts.skip ?? 0,
    limit: parts.limit ?? 0,
    ...(hint && { hint }),
    ...(parts.min && !isEmptyDocument(parts.min) && { min: parts.min }),
    ...(parts.max && !isEmptyDocument(parts.max) && { max: parts.max }),
    ...(parts.returnKey && { returnKey: true }),
    ...(parts.showRecordId && { showRecordId: true }),
    ...(parts.tailable && { tailable: true }),
    ...(parts.hasBatchSize && { hasBatchSize: true }),
    ...(parts.forWrite && { forWrite: true }),
  };
}

/** Whether the filter lets everything through. */
export function matchesEverything({ filter: { node }, filterDocument }: Query): boolean {
  return isEmptyDocument(filterDocument) || (node.op === "and" && node.children.length === 0);
}

function compiledProjection(
  spec: Uint8Array,
  options: ExpressionOptions,
  filter: Filter,
  sorted: boolean,
): QueryProjection {
  const apply = compileProjection(spec, options, filter.node);
  const asksForMeta = usesMeta(spec);
  if (asksForMeta && !sorted && asksForSortKey(spec)) {
    throw new CommandError(ErrorCode.BadValue, "cannot use sortKey $meta projection without a sort");
  }
  return { spec, apply, usesMeta: asksForMeta };
}

function asksForSortKey(spec: Uint8Array): boolean {
  return fields(spec).some(([, value]) => {
    if (value.type !== BsonType.object) return false;
    const meta = getField(asDocument(value), "$meta");
    return meta?.type === BsonType.string && asString(meta) === "sortKey";
  });
}

/** `{$natural: ±1}`, in a hint or a sort, means the collection itself. */
function naturalOrder(
  document: Uint8Array,
  where: "sort" | "hint",
): (Hint & { kind: "natural" }) | undefined {
  const all = fields(document);
  const natural = all.find(([name]) => name === "$natural")?.[1];
  if (!natural) return undefined;
  if (all.length > 1) {
    throw new CommandError(
      ErrorCode.BadValue,
      where === "sort"
        ? `Cannot include '$natural' in compound sort: $natural`
        : "Natural hint cannot be a compound hint",
    );
  }
  if (!isNumeric(natural) || Math.abs(asNumber(natural)) !== 1) {
    throw new CommandError(
      ErrorCode.BadValue,
      where === "sort"
        ? "$natural sort cannot be set to a value other than -1 or 1."
        : "$natural hint cannot be set to a value other than -1 or 1.",
    );
  }
  return { kind: "natural", backward: asNumber(natural) < 0 };
}

function sameNatural(hint: Hint, natural: Hint & { kind: "natural" }): boolean {
  return hint.kind === "natural" && hint.backward === natural.backward;
}

function sortHintConflict(): CommandError {
  return new CommandError(ErrorCode.BadValue, "Cannot use a $natural sort with a hint on an index");
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
  if (isEmptyDocument(keyPattern)) return undefined;
  return naturalOrder(keyPattern, "hint") ?? { kind: "key", keyPattern };
}
