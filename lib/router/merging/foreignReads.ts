/**
 * What the router's stages will read from other collections: pure reading.
 *
 * Stages ask their host for documents while they run, and cannot wait; the
 * router's documents are on shards. So everything is fetched beforehand, and as
 * much of the work as possible is left to the shards, by an aggregation of its
 * own that is routed like any other:
 *
 * | stage | fetched | then, in memory |
 * |---|---|---|
 * | `$unionWith {coll, pipeline}` | what the pipeline gives | — |
 * | `$lookup {from, pipeline}` without variables | what the pipeline gives | — |
 * | `$lookup {from, localField, foreignField}` | the collection | a hash join |
 * | `$lookup {from, let, pipeline}` | its leading constant `$match` | the rest, for each document |
 * | `$graphLookup {from}` | the collection | the walk, by a hash table |
 *
 * A pipeline inside a `$lookup` with `let` may use the variables anywhere below,
 * also in pipelines within: there only constant conditions can be sent away.
 */
import { asDocument, BsonType, elements, fields, getField, type RawValue } from "../../bson/index.js";
import type { Source } from "../../query/index.js";
import { documentsOf, namedSource } from "./pipelineReferences.js";
import { stageOf } from "./pipelineSplit.js";

/** An aggregation to be run for a stage of the router. */
export interface ForeignRead {
  readonly source: Source;
  /** Stages for whoever has the collection. */
  readonly sent: readonly Uint8Array[];
}

/** A pipeline over another collection, cut into what is sent and what the router runs over its result. */
export interface DividedRead extends ForeignRead {
  readonly kept: readonly Uint8Array[];
}

/**
 * Divides a pipeline over another collection.
 * @param correlated it may use variables that are set for each document
 */
export function divideRead(
  source: Source,
  pipeline: readonly Uint8Array[],
  correlated: boolean,
): DividedRead {
  if (!correlated) return { source, sent: pipeline, kept: [] };
  const at = pipeline.findIndex((stage) => !isConstantMatch(stage));
  const length = at < 0 ? pipeline.length : at;
  return { source, sent: pipeline.slice(0, length), kept: pipeline.slice(length) };
}

/** One text for reads that give the same. */
export function keyOfRead({ source, sent }: ForeignRead): string {
  const texts = sent.map((stage) => {
    let text = "";
    for (const byte of stage) text += String.fromCharCode(byte);
    return text;
  });
  return [source.db, source.collection, ...texts].join("\u0100");
}

/**
 * All reads of a pipeline's stages, each once.
 * @param db the database whose collections the stages name
 */
export function foreignReads(pipeline: readonly Uint8Array[], db: string): ForeignRead[] {
  const found = new Map<string, ForeignRead>();
  collect(pipeline, db, false, (read) => {
    const key = keyOfRead(read);
    if (!found.has(key)) found.set(key, read);
  });
  return [...found.values()];
}

type Note = (read: ForeignRead) => void;

function collect(pipeline: readonly Uint8Array[], db: string, correlated: boolean, note: Note): void {
  for (const document of pipeline) {
    const { name, spec } = stageOf(document);
    switch (name) {
      case "$unionWith":
        collectUnion(spec, db, correlated, note);
        break;
      case "$lookup":
        collectLookup(spec, db, correlated, note);
        break;
      case "$graphLookup": {
        const source = namedSource(field(spec, "from"), db);
        if (source) note({ source, sent: [] });
        break;
      }
      case "$facet":
        if (spec.type !== BsonType.object) break;
        for (const facet of elements(asDocument(spec))) collect(documentsOf(facet), db, correlated, note);
    }
  }
}

function collectUnion(spec: RawValue, db: string, correlated: boolean, note: Note): void {
  const isObject = spec.type === BsonType.object;
  const source = namedSource(isObject ? field(spec, "coll") : spec, db);
  const pipeline = isObject ? documentsOf(field(spec, "pipeline")) : [];
  if (source) collectRead(source, pipeline, correlated, note);
  else collect(pipeline, db, correlated, note);
}

function collectLookup(spec: RawValue, db: string, outer: boolean, note: Note): void {
  const source = namedSource(field(spec, "from"), db);
  const pipeline = documentsOf(field(spec, "pipeline"));
  const variables = field(spec, "let");
  const correlated =
    outer || (variables?.type === BsonType.object && fields(asDocument(variables)).length > 0);
  if (!source) {
    collect(pipeline, db, correlated, note);
  } else if (field(spec, "localField")) {
    // The join picks documents of the whole collection; the pipeline runs over those.
    note({ source, sent: [] });
    collect(pipeline, db, correlated, note);
  } else {
    collectRead(source, pipeline, correlated, note);
  }
}

function collectRead(source: Source, pipeline: readonly Uint8Array[], correlated: boolean, note: Note): void {
  const read = divideRead(source, pipeline, correlated);
  note(read);
  collect(read.kept, source.db, true, note);
}

/** A `$match` in which no variable can stand: only `$expr` takes them. */
function isConstantMatch(document: Uint8Array): boolean {
  const { name, spec } = stageOf(document);
  return name === "$match" && spec.type === BsonType.object && !names(asDocument(spec), "$expr");
}

/** Whether a field of that name is anywhere in a document. */
function names(document: Uint8Array, wanted: string): boolean {
  return fields(document).some(
    ([name, value]) =>
      name === wanted ||
      ((value.type === BsonType.object || value.type === BsonType.array) && names(asDocument(value), wanted)),
  );
}

function field(spec: RawValue, name: string): RawValue | undefined {
  return spec.type === BsonType.object ? getField(asDocument(spec), name) : undefined;
}
