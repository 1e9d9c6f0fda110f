/**
 * Finding the documents of another collection that belong to a value.
 *
 *     an index on the foreign field   →  asked once for each value
 *     none                            →  the collection is read once into a hash table
 *
 * A hash table maps every value that a document can be found by to the place
 * of that document, so that one look-up costs no more than its result. What
 * the table gives is checked by the real filter: it decides about null and
 * missing, nested arrays and numbers in paths, and about nothing else.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  UNDEFINED,
  document,
  sortableValue,
  string,
  type RawValue,
} from "../../../bson/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type ExpressionOptions } from "../../expression/context.js";
import { compileFilter } from "../../filter/compile.js";

import type { PipelineHost, Source } from "../host.js";
import { visitKeys } from "./paths.js";

/** Finds documents of a foreign collection by value. */
export interface Join {
  /** The documents for which `{path: v}` holds for one of the values, in the collection's order. */
  find(values: readonly RawValue[]): Iterable<Uint8Array>;
}

/**
 * A join by `{path: {$eq: value}}`, the equality of the query language: it looks into arrays, and null is also
 * what is missing.
 */
export function matchJoin(
  host: PipelineHost,
  source: Source,
  path: string,
  options: ExpressionOptions,
): Join {
  if (host.hasIndexOn(source, path, options)) return new IndexJoin(host, source, path, options);
  return new HashJoin(host, source, path, options);
}

/** `{$match: {path: {$eq: v}}}`; several values by `$in`, or where one is a pattern to be taken as it is, by `$or`. */
function matchStage(path: string, values: readonly RawValue[]): Uint8Array {
  return new DocumentWriter().document("$match", equalityFilter(path, values)).finish();
}

/** `{path: {$eq: v}}`, or the same for any of several values. */
export function equalityFilter(path: string, values: readonly RawValue[]): Uint8Array {
  const one = (value: RawValue): Uint8Array =>
    new DocumentWriter().document(path, new DocumentWriter().field("$eq", value).finish()).finish();
  if (values.length === 1) return one(values[0]!);
  if (values.some(({ type }) => type === BsonType.regex)) {
    return new DocumentWriter()
      .values(
        "$or",
        values.map((value) => document(one(value))),
      )
      .finish();
  }
  return new DocumentWriter().document(path, new DocumentWriter().values("$in", values).finish()).finish();
}

class IndexJoin implements Join {
  /** What single values have given so far: many documents share few values. */
  readonly #found = new Map<string, readonly Uint8Array[]>();

  constructor(
    readonly host: PipelineHost,
    readonly source: Source,
    readonly path: string,
    readonly options: ExpressionOptions,
  ) {}

  find(values: readonly RawValue[]): Iterable<Uint8Array> {
    const { host, source, options } = this;
    const read = (): Iterable<Uint8Array> => host.read(source, [matchStage(this.path, values)], options);
    if (values.length > 1) return read();
    const key = sortableValue(values[0]!, options.collation);
    let found = this.#found.get(key);
    if (found === undefined) this.#found.set(key, (found = [...read()]));
    return found;
  }
}

class HashJoin implements Join {
  #documents: Uint8Array[] | undefined;
  readonly #places = new Map<string, number[]>();
  /** What single values have given so far: many documents share few values. */
  readonly #found = new Map<string, readonly Uint8Array[]>();
  readonly #parts: readonly string[];

  constructor(
    readonly host: PipelineHost,
    readonly source: Source,
    readonly path: string,
    readonly options: ExpressionOptions,
  ) {
    this.#parts = path.split(".");
  }

  find(values: readonly RawValue[]): readonly Uint8Array[] {
    const documents = (this.#documents ??= this.#build());
    const { collation } = this.options;
    const single = values.length === 1 ? sortableValue(values[0]!, collation) : undefined;
    const known = single === undefined ? undefined : this.#found.get(single);
    if (known !== undefined) return known;
    const places = this.#placesOf(values);
    const filter = compileFilter(equalityFilter(this.path, values), this.options);
    const found: Uint8Array[] = [];
    for (const place of places) {
      const doc = documents[place]!;
      if (filter.matches(doc)) found.push(doc);
    }
    if (single !== undefined) this.#found.set(single, found);
    return found;
  }

  #build(): Uint8Array[] {
    const documents: Uint8Array[] = [];
    for (const doc of this.host.read(this.source, [], this.options)) {
      const place = documents.length;
      documents.push(doc);
      visitKeys(doc, this.#parts, (value) => {
        const key = sortableValue(value, this.options.collation);
        const list = this.#places.get(key);
        if (list === undefined) this.#places.set(key, [place]);
        else if (list.at(-1) !== place) list.push(place);
      });
    }
    return documents;
  }

  /** Places of all candidates, each once, in order. */
  #placesOf(values: readonly RawValue[]): Iterable<number> {
    const lists: number[][] = [];
    const add = (value: RawValue): void => {
      const list = this.#places.get(sortableValue(value, this.options.collation));
      if (list !== undefined) lists.push(list);
    };
    for (const value of values) {
      add(value);
      // null and undefined may be taken for one another.
      if (value.type === BsonType.null) add(UNDEFINED);
      else if (value.type === BsonType.undefined) add(NULL);
    }
    if (lists.length === 1) return lists[0]!;
    return [...new Set(lists.flat())].sort((a, b) => a - b);
  }
}

/**
 * A join by `{$expr: {$eq: ["$path", value]}}`, the equality of expressions: whole values, and missing is a value
 * of its own.
 */
export interface ExpressionJoin {
  /** Candidates for a value (undefined: missing): all that are equal, perhaps more. */
  find(value: RawValue | undefined): Iterable<Uint8Array>;
}

/** @param path as in `"$path"` */
export function expressionJoin(
  host: PipelineHost,
  source: Source,
  path: string,
  options: ExpressionOptions,
): ExpressionJoin {
  const table = new ExpressionHashJoin(host, source, path, options);
  if (!host.hasIndexOn(source, path, options)) return table;
  return {
    find(value) {
      // An index knows values inside arrays, not arrays, and nothing of missing against null.
      if (value === undefined || !isIndexable(value)) return table.find(value);
      return host.read(source, [matchStage(path, [value])], options);
    },
  };
}

function isIndexable({ type }: RawValue): boolean {
  return (
    type !== BsonType.null &&
    type !== BsonType.undefined &&
    type !== BsonType.array &&
    type !== BsonType.object &&
    type !== BsonType.regex
  );
}

class ExpressionHashJoin implements ExpressionJoin {
  #table: Map<string, Uint8Array[]> | undefined;

  constructor(
    readonly host: PipelineHost,
    readonly source: Source,
    readonly path: string,
    readonly options: ExpressionOptions,
  ) {}

  find(value: RawValue | undefined): readonly Uint8Array[] {
    return (this.#table ??= this.#build()).get(this.#key(value)) ?? [];
  }

  #key(value: RawValue | undefined): string {
    return value === undefined ? "" : sortableValue(value, this.options.collation);
  }

  #build(): Map<string, Uint8Array[]> {
    const table = new Map<string, Uint8Array[]>();
    const expression = compileExpression(string(`$${this.path}`), this.options);
    for (const doc of this.host.read(this.source, [], this.options)) {
      const key = this.#key(expression(expressionContext(doc)));
      const list = table.get(key);
      if (list === undefined) table.set(key, [doc]);
      else list.push(doc);
    }
    return table;
  }
}
