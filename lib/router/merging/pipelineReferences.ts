/**
 * What a pipeline refers to besides its own collection: pure reading.
 *
 * - Which filter decides its shards: the `$match` stages at its beginning, also
 *   behind a `$sort`, because MongoDB moves them in front of it (§4.1).
 * - Which other collections it reads (`$lookup`, `$graphLookup`, `$unionWith`)
 *   or writes (`$out`, `$merge`).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  elements,
  getField,
} from "../../bson/index.js";
import type { Source } from "../../query/index.js";
import { stageOf } from "./pipelineSplit.js";

/** The filter that routes a pipeline; empty when it begins with something else. */
export function routingFilter(pipeline: readonly Uint8Array[]): Uint8Array {
  const matches: Uint8Array[] = [];
  for (const document of pipeline) {
    const { name, spec } = stageOf(document);
    if (name === "$match" && spec.type === BsonType.object) matches.push(asDocument(spec));
    else if (name !== "$sort") break;
  }
  if (matches.length === 0) return EMPTY_DOCUMENT;
  return matches.length === 1 ? matches[0]! : new DocumentWriter().arrayOf("$and", matches).finish();
}

/** Another collection that a pipeline uses. */
export interface Reference {
  /** The stage, e.g. `$lookup`. */
  readonly stage: string;
  readonly db: string;
  readonly collection: string;
  readonly writes: boolean;
}

/** The stage that writes, at the end of a pipeline: `$out` or `$merge`. */
export function writingStage(pipeline: readonly Uint8Array[]): "$out" | "$merge" | undefined {
  const last = pipeline.at(-1);
  const name = last && stageOf(last).name;
  return name === "$out" || name === "$merge" ? name : undefined;
}

/** All other collections of a pipeline, those of inner pipelines included. */
export function referencesOf(pipeline: readonly Uint8Array[], db: string): Reference[] {
  return pipeline.flatMap((document) => {
    const { name, spec } = stageOf(document);
    switch (name) {
      case "$lookup":
        return [...named(name, field(spec, "from"), db, false), ...inner(spec, db)];
      case "$graphLookup":
        return named(name, field(spec, "from"), db, false);
      case "$unionWith":
        return spec.type === BsonType.object
          ? [...named(name, field(spec, "coll"), db, false), ...inner(spec, db)]
          : named(name, spec, db, false);
      case "$out":
        return named(name, spec, db, true);
      case "$merge":
        return named(name, spec.type === BsonType.object ? field(spec, "into") : spec, db, true);
      case "$facet":
        return facets(spec).flatMap((stages) => referencesOf(stages, db));
      default:
        return [];
    }
  });
}

function named(stage: string, value: RawValue | undefined, db: string, writes: boolean): Reference[] {
  const source = namedSource(value, db);
  return source ? [{ stage, ...source, writes }] : [];
}

/** A collection as stages name it: `"rates"` or `{db: "bank", coll: "rates"}`. */
export function namedSource(value: RawValue | undefined, db: string): Source | undefined {
  if (value?.type === BsonType.string) return { db, collection: asString(value) };
  if (value?.type !== BsonType.object) return undefined;
  const inDb = field(value, "db");
  const collection = field(value, "coll");
  if (collection?.type !== BsonType.string) return undefined;
  return { db: inDb?.type === BsonType.string ? asString(inDb) : db, collection: asString(collection) };
}

function inner(spec: RawValue, db: string): Reference[] {
  return referencesOf(documentsOf(field(spec, "pipeline")), db);
}

function facets(spec: RawValue): Uint8Array[][] {
  if (spec.type !== BsonType.object) return [];
  return elements(asDocument(spec)).map(documentsOf);
}

/** The documents of an array; none where the value is no array. */
export function documentsOf(value: RawValue | undefined): Uint8Array[] {
  if (value?.type !== BsonType.array) return [];
  return elements(asDocument(value))
    .filter(({ type }) => type === BsonType.object)
    .map(asDocument);
}

function field(spec: RawValue, name: string): RawValue | undefined {
  return spec.type === BsonType.object ? getField(asDocument(spec), name) : undefined;
}
